"""What is known of identities, by what they did: standing, admission, measured reward."""
