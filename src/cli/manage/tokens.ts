/** `culvert tokens list`, `revoke` and `budget`. Minting and rotation, which hand a secret out, are in mint-token.ts. */
import { z } from 'zod';
import { confirm } from '../terminal/confirm.ts';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { countOf, textFlag } from '../terminal/flags.ts';
import { writeLine } from '../terminal/io.ts';
import { type Asked, apiCommand, printDone, printRows } from '../client/api-command.ts';
import { harmless } from '../terminal/paint.ts';
import { findToken, forerunners, isLive, listTokens, pickToken, statusOf, tokenPath, when } from './token-rows.ts';

const NONCE = /^[0-9a-f]{32}$/i;

const revoked = z.looseObject({ revoked: z.int().optional() });

export const tokensList = apiCommand(async (asked) => {
  const { io, flags } = asked;
  const all = await listTokens(asked);
  const shown = flags['json'] === true || flags['all'] === true ? all : all.filter(isLive);
  await printRows(asked, shown, {
    name: (row) => row.name,
    kind: (row) => row.kind,
    project: (row) => row.projectSlug ?? '-',
    subdomains: (row) => row.allowedSubdomains.join(',') || '-',
    quota: (row) => (row.kind === 'master' ? '-' : String(row.tunnelQuota)),
    mbps: (row) => (row.kind === 'master' ? '-' : String(row.bandwidthLimitMbps)),
    spent: (row) => dollars(row.spentUsdCents),
    budget: (row) => (row.monthlyBudgetUsdCents === null ? '-' : dollars(row.monthlyBudgetUsdCents)),
    'expires (utc)': (row) => when(row.expiresAt),
    status: statusOf,
    nonce: (row) => row.nonce,
  });
  const hidden = all.length - shown.length;
  if (hidden > 0) writeLine(io.stderr, `${hidden} more are revoked or expired; --all lists them`);
});

export const tokensRevoke = apiCommand(
  async (asked) => {
    const { io, flags, isMaster, args } = asked;
    const [handle = ''] = args;
    const project = textFlag(flags, 'project');
    const { path, name, question, left } = isMaster
      ? ofMaster(project ?? '', handle)
      : await ofPerson(asked, handle, project);
    await confirm(io, flags, question);
    const answer = await asked.call('DELETE', path);
    const count = revoked.parse(answer).revoked ?? 1;
    await printDone(asked, answer, `${name}: revoked${count > 1 ? `, ${count} keys in total` : ''}`);
    for (const line of left) writeLine(io.stderr, harmless(line));
  },
  { takesMasterKey: true },
);

export const tokensBudget = apiCommand(async (asked) => {
  const [handle = '', text = ''] = asked.args;
  const cents = text === 'none' ? null : countOf(text, 'the budget, US cents or none');
  const { name, nonce } = await findToken(asked, handle, { passOverGrace: true });
  const answer = await asked.call('PUT', `/tokens/${nonce}/budget`, { monthlyBudgetUsdCents: cents });
  const stopped = cents === 0 ? ': its tunnels are blocked' : '';
  const sentence = cents === null ? 'budget removed' : `${dollars(cents)} a month${stopped}`;
  await printDone(asked, answer, `${name}: ${sentence}`);
});

interface Meant {
  readonly path: string;
  readonly name: string;
  /** Before it is revoked. */
  readonly question: string;
  /** After it: what goes on all the same. */
  readonly left: readonly string[];
}

/** A master key sees no list: it names a key that it minted by its nonce. @throws ExitError for a name. */
export function ofMaster(project: string, handle: string): Meant {
  if (!NONCE.test(handle)) {
    const text = 'a master key needs the nonce that `culvert tokens mint` printed';
    throw new ExitError(EXIT.usage, `"${handle}" is not a nonce: ${text}`);
  }
  const path = tokenPath(handle.toLowerCase(), project);
  return { path, name: handle, question: `Revoke the key ${handle}? Its agents are disconnected.`, left: [] };
}

async function ofPerson(asked: Asked, handle: string, project: string | undefined): Promise<Meant> {
  const listed = await listTokens(asked);
  const found = pickToken(listed, handle, { project });
  const { name, nonce, kind } = found;
  const which = handle === name ? `"${name}"` : `"${name}" (${nonce})`;
  const question =
    kind === 'master'
      ? `Revoke the master key ${which} and the keys that it created? Their agents are disconnected.`
      : `Revoke the key ${which}? Its agents are disconnected.`;
  const left = forerunners(listed, found).map(
    (one) =>
      `The key from before the rotation is valid until ${when(one.graceEndsAt ?? 0)} UTC. To revoke it: culvert tokens revoke ${one.nonce}`,
  );
  return { path: tokenPath(nonce, project), name, question, left };
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}
