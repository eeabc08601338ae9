/** The man page culvert(1), from the table of commands. In the macros of man(7), which groff and mandoc both read. */
import { COMMANDS } from '../../../src/cli/commands.ts';
import { type CommandNode, commandTree, type Flag } from '../../../src/cli/completion/command-tree.ts';
import { EXIT } from '../../../src/cli/terminal/exit.ts';

/** What the page says of each exit code. */
const EXITS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'Success, or a normal stop.',
  failure: 'Another failure; the message says which.',
  usage: 'Wrong usage or settings.',
  unauthorized: 'The access key or login is invalid, expired or revoked.',
  refused: 'The name, quota or plan does not allow the tunnel, or another agent took it over.',
  outdated: 'culvert upgrade --check: a newer version is available.',
  interrupted: 'Interrupted.',
};

const ENVIRONMENT: ReadonlyArray<readonly [name: string, text: string]> = [
  ['CULVERT_BASIC_AUTH', 'User name and password for visitors, as user:password, in place of --basic-auth-file.'],
  ['CULVERT_WEBHOOK_SECRET', 'Secret of the webhook sender, in place of --webhook-secret-file; one a line.'],
  ['CULVERT_SERVER', 'URL of the server, as --server.'],
  ['CULVERT_TOKEN', 'Access key.'],
  ['CULVERT_TOKEN_FILE', 'File with the access key, as --token-file.'],
  ['CULVERT_AGENT_CONFIG', 'Settings file of the agent, as --config of culvert start.'],
  ['CULVERT_CONFIG', 'Settings file of the server, as --config of its commands.'],
  ['CULVERT_PASSWORD', 'Password of a tunnel, in place of --password-file.'],
  ['CULVERT_WEBHOOK_SECRET', 'Secret of a webhook sender, in place of --secret-file.'],
  ['HTTPS_PROXY, ALL_PROXY', 'Proxy for all connections to the server, as --proxy.'],
  ['NO_PROXY', 'Names and addresses that need no proxy.'],
  ['NO_COLOR', 'If set, the output has no colors.'],
];

const FILES: ReadonlyArray<readonly [name: string, text: string]> = [
  ['/etc/culvert/culvert.toml', 'Settings of the server.'],
  ['/etc/culvert/agents/', 'Settings of agents that run as a service.'],
  ['/var/lib/culvert/', 'Data of the server.'],
  ['~/.config/culvert/', 'Login, keys and the settings of the agent.'],
];

const EXAMPLES: ReadonlyArray<readonly [text: string, command: string]> = [
  ['Log in to a server:', 'culvert login example.com'],
  ['Publish port 3000 as https://shop.example.com:', 'culvert http 3000 --subdomain shop'],
  ['Set up a server:', 'culvert setup example.com --email ann@example.com'],
  ['Look for faults:', 'culvert doctor'],
];

/** The page; `epoch` is its date. */
export function manPage(version: string, epoch: number): string {
  const root = commandTree(COMMANDS);
  const date = new Date(epoch * 1000).toISOString().slice(0, 10);
  const lines = [
    `.TH CULVERT 1 ${date} ${quoted(`culvert ${version}`)}`,
    ...['.SH NAME', text('culvert - publish a local port on a public name')],
    ...['.SH SYNOPSIS', '.B culvert', '.I command', text('[options] [arguments]')],
    ...['.SH DESCRIPTION', ...paragraphs(DESCRIPTION)],
    ...['.SH COMMANDS', ...root.below.flatMap(section)],
    ...['.SH OPTIONS', 'These flags work without a command:', ...root.flags.flatMap(flagEntry)],
    ...['.SH ENVIRONMENT', ...entries(ENVIRONMENT)],
    ...['.SH FILES', ...entries(FILES)],
    ...['.SH EXIT STATUS', ...entries(Object.entries(EXITS).map(([name, what]) => [codeOf(name), what]))],
    ...[
      '.SH EXAMPLES',
      ...EXAMPLES.flatMap(([what, command], index) => [...(index > 0 ? ['.PP'] : []), text(what), ...example(command)]),
    ],
  ];
  return `${lines.join('\n')}\n`;
}

const DESCRIPTION = [
  'Culvert gives a local port a public URL. One program is both server and agent. The agent keeps a connection to the server, and the server hands visitors through it to your service.',
  'The access key comes from --token-file, CULVERT_TOKEN, CULVERT_TOKEN_FILE, the settings file or culvert login.',
];

const codeOf = (name: string): string => String(EXIT[name as keyof typeof EXIT]);

/** A command, or a group with its commands. Those that only name another one have no text of their own. */
function section(node: CommandNode): string[] {
  const { words, summary, below } = node;
  if (words[0] !== 'help' && below.length > 0) return [heading(node), text(`${summary}.`), ...below.flatMap(section)];
  const operands = words[0] === 'help' ? ' [command...]' : node.operands.map(operandText).join('');
  const also = node.alias === undefined ? '' : ` Also: ${[...words.slice(0, -1), node.alias].join(' ')}.`;
  const flags = node.flags.filter(({ long }) => long !== '--help').flatMap(flagEntry);
  return [`${heading(node)}${text(operands)}`, text(`${summary}.${also}`), ...flags];
}

const heading = ({ words }: CommandNode): string => `.SS ${text(`culvert ${words.join(' ')}`)}`;

function operandText({ name, isRequired, isRepeated }: CommandNode['operands'][number]): string {
  const inner = `${name}${isRepeated ? '...' : ''}`;
  return isRequired ? ` <${inner}>` : ` [${inner}]`;
}

function flagEntry({ long, short, value, description, values }: Flag): string[] {
  const names = [short, long].filter((name) => name !== undefined).map((name) => `\\fB${text(name)}\\fR`);
  const shown = value === undefined ? '' : ` \\fI${text(value)}\\fR`;
  const missing = Array.isArray(values) ? values.filter((one: string) => !description.includes(one)) : [];
  const more = missing.length > 0 ? ` (${missing.join(', ')})` : '';
  return ['.TP', `${names.join(', ')}${shown}`, text(`${description}${more}`)];
}

function entries(rows: ReadonlyArray<readonly [name: string, what: string]>): string[] {
  return rows.flatMap(([name, what]) => ['.TP', `\\fB${text(name)}\\fR`, text(what)]);
}

const paragraphs = (texts: readonly string[]): string[] =>
  texts.flatMap((one, index) => [...(index > 0 ? ['.PP'] : []), text(one)]);
const example = (command: string): string[] => ['.PP', '.nf', '.RS', text(command), '.RE', '.fi'];
const quoted = (words: string): string => `"${text(words)}"`;

/** Hyphens are those of the keyboard, so that a flag can be copied. A line has at most 80 bytes, and begins with no mark of a macro. */
function text(words: string): string {
  const plain = words.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('…', '...');
  return plain.replace(/(.{50,74}) (?=.)/g, '$1\n').replace(/^(?=[.'])/gm, '\\&');
}
