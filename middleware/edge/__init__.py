"""Export redirects for a front server or a CDN, which then answers for most names without Ararat."""
