/** `culvert tunnels password`, `visitor-login` and `maintenance`: one gate of a tunnel each, set, replaced or turned off. */
import { z } from 'zod';
import { apiCommand, type Asked, printDone } from '../client/api-command.ts';
import { readSecret } from '../client/secret.ts';
import { findTunnel } from '../manage/tunnels.ts';
import { usageError } from '../terminal/exit.ts';
import { listFlag, refuseFlags } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';

const gate = z.looseObject({
  edgeAuthEnabled: z.boolean(),
  allowed_domains: z.array(z.string()),
  allowed_emails: z.array(z.string()),
  warnings: z.array(z.string()).default([]),
});

export const tunnelsPassword = apiCommand(async (asked) => {
  const { args, flags } = asked;
  const username = args[1];
  if (isOff(asked)) {
    if (username !== undefined) throw usageError("a user name can't be used with --off");
    refuseFlags(flags, ['passwordFile'], "can't be used with --off");
    return turnOff(asked, 'auth', 'no password is required');
  }
  if (username === undefined) throw usageError('needs the user name of the visitors, or --off');
  const found = await findTunnel(asked);
  const sources = { flag: 'passwordFile', variable: 'CULVERT_PASSWORD', label: `Password of ${harmless(username)}` };
  const password = await readSecret(asked, sources);
  const answer = await asked.call('PUT', pathOf(found.id, 'auth'), { username, password });
  await printDone(asked, answer, `${found.subdomain}: visitors need the password of ${username}`);
});

export const tunnelsVisitorLogin = apiCommand(async (asked) => {
  const { flags } = asked;
  if (isOff(asked)) {
    refuseFlags(flags, ['domains', 'emails'], "can't be used with --off");
    return turnOff(asked, 'edge-auth', 'visitors need no login');
  }
  const lists = { allowed_domains: listFlag(flags, 'domains'), allowed_emails: listFlag(flags, 'emails') };
  const isSet = lists.allowed_domains !== undefined || lists.allowed_emails !== undefined;
  const found = await findTunnel(asked);
  const path = pathOf(found.id, 'edge-auth');
  const answer = await (isSet ? asked.call('PUT', path, lists) : asked.call('GET', path));
  const { edgeAuthEnabled, allowed_domains: domains, allowed_emails: emails, warnings } = gate.parse(answer);
  const allowed = [...domains.map((domain) => `@${domain}`), ...emails].join(', ');
  const sentence = edgeAuthEnabled ? `allowed are ${allowed}` : 'visitors need no login';
  await printDone(asked, answer, `${found.subdomain}: ${sentence}`);
  for (const warning of warnings) writeLine(asked.io.stderr, harmless(warning));
});

export const tunnelsMaintenance = apiCommand(async (asked) => {
  const message = asked.args[1];
  if (isOff(asked)) {
    if (message !== undefined) throw usageError("a message can't be used with --off");
    return turnOff(asked, 'maintenance', 'visitors reach the service again');
  }
  const found = await findTunnel(asked);
  const body = message === undefined ? {} : { message };
  const answer = await asked.call('PUT', pathOf(found.id, 'maintenance'), body);
  await printDone(asked, answer, `${found.subdomain}: visitors get the maintenance page`);
});

function isOff({ flags }: Asked): boolean {
  return flags['off'] === true;
}

async function turnOff(asked: Asked, gateName: string, sentence: string): Promise<void> {
  const found = await findTunnel(asked);
  const answer = await asked.call('DELETE', pathOf(found.id, gateName));
  await printDone(asked, answer, `${found.subdomain}: ${sentence}`);
}

function pathOf(id: string, gateName: string): string {
  return `/tunnels/${encodeURIComponent(id)}/${gateName}`;
}
