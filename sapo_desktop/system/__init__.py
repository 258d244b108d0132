"""The computer: folders, processes, hardware. All platform differences are here."""
