"""What is known about identities from their actions: standing, admission, measured reward."""
