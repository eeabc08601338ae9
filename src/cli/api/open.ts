/** `culvert open`: the dashboard, or the page of one tunnel there, in the browser. */
import { apiCommand } from '../client/api-command.ts';
import { urlAt } from '../client/api-call.ts';
import { serverOf } from '../client/server-here.ts';
import { findTunnel } from '../manage/tunnels.ts';
import { browserCommand, openBrowser } from '../terminal/browser.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/paint.ts';

const openTunnel = apiCommand(async (asked) => {
  const { id } = await findTunnel(asked);
  await show(asked.io, asked, urlAt(asked.server, `/app/tunnels/${encodeURIComponent(id)}`));
});

/** Without a name no login is needed: the dashboard has its own. */
export const open: CommandBody = async (io, invocation) => {
  if (invocation.args.length > 0) return openTunnel(io, invocation);
  const server = await serverOf(io, { server: textFlag(invocation.flags, 'server') });
  await show(io, invocation, urlAt(server, '/app/'));
  return EXIT.ok;
};

/** The URL alone on standard output where no browser shows it. */
async function show(io: Io, { flags }: Invocation, { href: url }: URL): Promise<void> {
  if (flags['json'] === true) return print(io.stdout, jsonText({ url }));
  const mayOpen = flags['browser'] !== false && browserCommand(url, process.platform, io.env) !== undefined;
  if (!mayOpen) return print(io.stdout, harmless(url));
  openBrowser(url, io.env);
  writeLine(io.stderr, harmless(`Opening ${url}`));
}
