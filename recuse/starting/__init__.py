"""A first suite, of templates below `files/`; prompts and workflows have other marks than their << >> and <% %>."""
