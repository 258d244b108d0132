"""What is known of identities, by what they did: standing, audits, admission, measured reward."""
