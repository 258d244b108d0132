"""The machine below us: folders, processes, hardware. Platform differences end here."""
