/**
 * Flags and commands of ngrok, cloudflared and frp that Culvert does not have, with what does the same here. Used where one is not known.
 * Keys of settings files are in config/text/foreign-keys.ts.
 */

/** Names, and a sentence that follows "unknown option '--url'. ". A name that ends with `*` stands for all that begin so. */
type Row = readonly [names: readonly string[], hint: string];

const NONE = 'Culvert has no such option.';
const POLICY = "Use --policy FILE: a traffic policy in JSON, in a form of its own. ngrok's YAML does not work.";
const headerPolicy = (kind: string): string =>
  `Use --policy FILE, such as {"actions": [{"kind": "${kind}", "name": "X-Env", "value": "test"}]}.`;
const NO_REMOVAL = 'Culvert removes no headers. A --policy FILE can replace them.';
const LOG = 'Logs go to standard error, as JSON if it is no terminal. --json prints events, --quiet errors only.';

/** Of the commands that publish. */
const FLAGS: readonly Row[] = [
  [
    ['--url', '--hostname', '--custom-domain', '--custom-domains', '--name'],
    "Use --subdomain NAME for a name below the server's domain, --domain NAME for your own domain, or --remote-port PORT with `culvert tcp`.",
  ],
  [['--cidr-allow'], 'Use --allow-cidr NETWORK.'],
  [['--cidr-deny'], 'Use --deny-cidr NETWORK.'],
  [['--auth', '--http-user', '--http-pwd'], 'Use --basic-auth USER. It asks for the password.'],
  [['--oauth*', '--oidc*'], 'Use --visitor-login example.com (a domain, or an email address).'],
  [
    ['--verify-webhook*', '--webhook-secret', '--webhook-verification*'],
    'Use --webhook-verify KIND, and give the secret with --webhook-secret-file FILE or CULVERT_WEBHOOK_SECRET.',
  ],
  [['--traffic-policy*', '--policy-file', '--policy-url'], POLICY],
  [['--request-header-add'], headerPolicy('header_set')],
  [['--response-header-add'], headerPolicy('response_header_set')],
  [['--request-header-remove', '--response-header-remove'], NO_REMOVAL],
  [['--config'], 'Use `culvert start --config FILE`: it runs the tunnels of a settings file.'],
  [['--log', '--log-format', '--log-level', '--loglevel', '--logfile', '--log-file'], LOG],
  [['--inspect'], 'The inspector is on. --no-inspect turns it off.'],
  [['--web-addr'], 'Use --inspect-port PORT: the local inspector listens on 127.0.0.1.'],
  [['--verify-upstream-tls'], 'Use --verify-tls.'],
  [['--no-tls-verify'], "Culvert doesn't verify your service's certificate unless you add --verify-tls."],
  [['--root-cas', '--origin-ca-pool'], 'Use --upstream-ca FILE.'],
  [['--origin-server-name'], 'Use --upstream-sni NAME.'],
  [['--http-host-header', '--host-header-rewrite'], 'Use --host-header NAME, or --host-header rewrite.'],
  [['--app-protocol', '--http2-origin'], 'Use --upstream-protocol http2.'],
  [['--remote-addr', '--remote-port'], 'Use --remote-port PORT with `culvert tcp`.'],
  [
    ['--proxy-proto'],
    'Use --proxy-protocol with `culvert tcp`. HTTP services get the visitor address in X-Forwarded-For.',
  ],
  [
    ['--local-port', '--local-ip', '--port'],
    'Write the target behind the command: `culvert http 3000`, `culvert tcp host:22`.',
  ],
  [['--proto', '--protocol'], 'The command names the protocol: `culvert http`, `https` or `tcp`.'],
  [['--region'], `It is ngrok's. ${NONE} There is one server.`],
  [
    [
      ...['--scheme', '--schemes', '--compression', '--websocket-tcp-converter', '--circuit-breaker'],
      ...['--pooling-enabled', '--metadata', '--mutual-tls-cas', '--ua-filter-*', '--binding', '--bindings'],
      ...['--crl-*', '--terminate-at', '--description', '--session-metadata'],
    ],
    `It is ngrok's. ${NONE}`,
  ],
];

/** Of all commands. */
const ANYWHERE: readonly Row[] = [
  [['--authtoken', '--auth-token', '--api-key'], 'Use `culvert login`, --token-file FILE or CULVERT_TOKEN.'],
];

/** What follows "unknown command 'authtoken'. ". */
const COMMANDS: readonly Row[] = [
  [['authtoken', 'config add-authtoken', 'config add-api-key'], 'Use `culvert login`.'],
  [
    ['config edit', 'config upgrade', 'config add-server-addr'],
    'Edit ./culvert.toml, or ~/.config/culvert/agent.toml, and check it with `culvert config check FILE`.',
  ],
  [['diagnose'], 'Use `culvert doctor`.'],
  [['replay'], 'Use `culvert inspect ID --replay`.'],
  [['list', 'ls', 'ps'], 'Use `culvert tunnels` for the tunnels, or `culvert status` for the agents on this machine.'],
  [['whoami'], 'Use `culvert status`.'],
  [['dashboard'], 'Use `culvert open`.'],
  [['endpoints', 'tunnel list'], 'Use `culvert tunnels`.'],
  [
    ['logs', 'log'],
    "Use `culvert inspect --follow` for requests. An agent logs to standard error; `culvert service status` names a service's log.",
  ],
  [['stop', 'kill'], 'Press Ctrl+C in the agent, or use `culvert tunnels stop NAME`.'],
  [['share', 'expose', 'publish'], 'Use `culvert http 3000`.'],
  [['tls'], 'Use `culvert https 8443` for a service that speaks TLS, or `culvert tcp 8443`.'],
  [['tunnel', 'run'], "Use `culvert http 3000`, or `culvert start` for the tunnels of the agent's settings file."],
  [['update'], 'Use `culvert upgrade`.'],
];

const SERVICE_MANAGERS: Readonly<Partial<Record<NodeJS.Platform, (verb: string) => string>>> = {
  darwin: (verb) =>
    verb === 'stop'
      ? 'launchctl bootout gui/$UID/culvert-agent'
      : verb === 'restart'
        ? 'launchctl kickstart -k gui/$UID/culvert-agent'
        : 'launchctl bootstrap gui/$UID ~/Library/LaunchAgents/culvert-agent.plist',
  win32: (verb) => `schtasks ${verb === 'stop' ? '/end' : '/run'} /tn culvert-agent`,
};

/** A sentence about a flag that `command` does not have, for users of other programs; undefined: it is no name of theirs. */
export function flagHint(flag: string, command: string): string | undefined {
  const name = flag.toLowerCase().replaceAll('_', '-');
  const publishes = ['http', 'https', 'tcp', 'files', 'start', 'udp', 'culvert'].includes(command);
  return find(publishes ? [...ANYWHERE, ...FLAGS] : ANYWHERE, name);
}

/** The same about words that are no command. `group` stands before the unknown word; empty: it is the first. */
export function commandHint(group: string, word: string, platform = process.platform): string | undefined {
  if (group === '' && isTarget(word)) return `Use \`culvert http ${word}\`.`;
  if (group === 'service' && ['start', 'stop', 'restart'].includes(word)) {
    const line = SERVICE_MANAGERS[platform]?.(word) ?? `systemctl --user ${word} culvert-agent`;
    const system =
      SERVICE_MANAGERS[platform] === undefined ? `; with --system: sudo systemctl ${word} culvert-agent` : '';
    return `Use \`${line}\`${system}.`;
  }
  return find(COMMANDS, `${group} ${word}`.trim().toLowerCase());
}

/** A port, `localhost:3000` or a URL, where a command should be. A URL may have a password in it. */
function isTarget(word: string): boolean {
  return /^(?:(?:https?:\/\/)?[\w.-]+:)?\d{1,5}$/.test(word);
}

function find(rows: readonly Row[], name: string): string | undefined {
  return rows.find(([names]) => names.some((one) => isNamed(one, name)))?.[1];
}

function isNamed(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}
