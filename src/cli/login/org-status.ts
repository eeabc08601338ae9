/** `culvert status --org`: what needs attention in the organization of the login. Exit code 1 when something is critical. */
import { z } from 'zod';
import { urlAt } from '../client/api-call.ts';
import { apiCommand } from '../client/api-command.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { hasColor, print } from '../terminal/io.ts';
import { shellLine } from './shell-words.ts';
import { jsonText, type Line, paint, type Style, span } from '../terminal/paint.ts';

const startCommand = z.looseObject({
  words: z.array(z.string()),
  key: z.looseObject({ name: z.string(), is_login: z.boolean(), is_valid: z.boolean() }).nullable(),
});

/** Newer servers may know other severities. */
const item = z.looseObject({
  severity: z.string(),
  title: z.string(),
  detail: z.string(),
  since: z.string().nullable(),
  action: z.looseObject({ label: z.string(), href: z.string() }),
  /** Of tunnels that are offline; older servers have none. */
  startCommand: startCommand.nullish(),
});

const COLORS: Readonly<Record<string, Style>> = { critical: 'red', warning: 'yellow' };
const INDENT = ' '.repeat(10);

export const orgStatus = apiCommand(async (asked) => {
  const { io, flags, server } = asked;
  const items = z.array(item).parse(await asked.call('GET', '/attention'));
  if (flags['json'] === true) await print(io.stdout, jsonText(items));
  else {
    const lines = items.length === 0 ? [[span('All is well.')]] : items.flatMap((one) => linesOf(one, server));
    const color = hasColor(io.stdout, io.env);
    await print(io.stdout, lines.map((line) => paint(line, color)).join('\n'));
  }
  const critical = items.filter(({ severity }) => severity === 'critical').length;
  if (critical === 0) return;
  throw new ExitError(EXIT.failure, critical === 1 ? '1 problem is critical' : `${critical} problems are critical`);
});

function linesOf(
  { severity, title, detail, since, action, startCommand: start }: z.output<typeof item>,
  server: URL,
): Line[] {
  const color = COLORS[severity];
  const from = since === null ? '' : `, since ${since.slice(0, 16).replace('T', ' ')} UTC`;
  return [
    [
      span(severity.padEnd(INDENT.length), 'bold', ...(color === undefined ? [] : [color])),
      span(title),
      span(from, 'dim'),
    ],
    [span(INDENT), span(detail)],
    ...(start === undefined || start === null ? [] : startLines(start, server)),
    [span(INDENT), span(urlAt(server, action.href).href, 'cyan')],
  ];
}

/** The command to paste on the machine of the service. A key is named, never shown: the user has it. */
function startLines({ words, key }: z.output<typeof startCommand>, server: URL): Line[] {
  const isKeyless = key === null || key.is_login || words.includes('--token-file');
  const variables = isKeyless ? {} : { CULVERT_TOKEN: `<key ${key.name}>` };
  const line = shellLine([...words, '--server', server.href.replace(/\/$/, '')], variables);
  const ended =
    key === null || key.is_valid
      ? []
      : [
          [
            span(INDENT),
            span(`Its key ${key.name} is no longer valid. Create another one: culvert tokens mint.`, 'yellow'),
          ],
        ];
  return [...ended, [span(INDENT), span(line, 'bold')]];
}
