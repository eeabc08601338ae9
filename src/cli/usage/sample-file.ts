/** An agent's settings file, as `culvert help start` shows it. */
export const SAMPLE_FILE = `server = "https://culvert.example.com"

[tunnels.web]
target = 3000
subdomain = "shop"

[tunnels.ssh]
protocol = "tcp"
target = 22`;

export const SAMPLE_NOTE = `A settings file with two tunnels, as ./culvert.toml or ~/.config/culvert/agent.toml:

${SAMPLE_FILE.replace(/^(?=.)/gm, '  ')}`;
