"""How experiments get run: composing, fanning out, keeping results."""
