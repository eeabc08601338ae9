/** Tokens as the API lists them, and which one a person means by a name or a nonce. */
import { z } from 'zod';
import type { Asked } from '../client/api-command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { harmless, type Span, span } from '../terminal/paint.ts';

export const token = z.looseObject({
  name: z.string(),
  nonce: z.string(),
  kind: z.string(),
  tunnelQuota: z.int(),
  bandwidthLimitMbps: z.int(),
  allowedSubdomains: z.array(z.string()),
  projectSlug: z.string().nullable(),
  /** A server that is older does not say. */
  issuedAt: z.int().optional(),
  expiresAt: z.int(),
  /** Unix seconds; when a token that was rotated stops working. */
  graceEndsAt: z.int().nullish(),
  /** Nonce of the one that rotation made of it. */
  replacedBy: z.string().nullish(),
  revoked: z.boolean(),
  monthlyBudgetUsdCents: z.int().nullable(),
  spentUsdCents: z.int(),
});

export type TokenItem = z.output<typeof token>;

const DAY = 86_400;
/** As `key_expiring` of `GET /attention`. */
const SOON_SECONDS = 7 * DAY;
const SHORT_SECONDS = 2 * DAY;
/** How many names of tokens a message repeats. */
const MAX_NAMED = 20;

export async function listTokens(asked: Asked): Promise<TokenItem[]> {
  return token.array().parse(await asked.call('GET', '/tokens'));
}

export interface Meaning {
  /** Slug: keys of other projects, and those of none, are not meant. */
  readonly project?: string | undefined;
  /** One that was rotated and still works is not meant by its name. */
  readonly passOverGrace?: boolean;
}

/** The token with this nonce, or the one live token of this name; a name may stand for any number of them. @throws ExitError: failure for none, usage for several. */
export async function findToken(asked: Asked, handle: string, meaning: Meaning = {}): Promise<TokenItem> {
  return pickToken(await listTokens(asked), handle, meaning);
}

/** The same from a list. */
export function pickToken(
  listed: readonly TokenItem[],
  handle: string,
  { project, passOverGrace = false }: Meaning = {},
): TokenItem {
  const all = project === undefined ? listed : listed.filter(({ projectSlug }) => projectSlug === project);
  const byNonce = all.find(({ nonce }) => nonce === handle.toLowerCase());
  if (byNonce !== undefined) return byNonce;
  const named = all.filter((one) => one.name === handle && isLive(one));
  const meant = passOverGrace ? named.filter((one) => !isInGrace(one)) : named;
  const [only, ...others] = meant.length === 0 ? named : meant;
  if (only === undefined) {
    const where = project === undefined ? '' : ` in the project ${project}`;
    const text = `there is no valid key "${handle}"${where}. \`culvert tokens list\` shows them`;
    throw new ExitError(EXIT.failure, harmless(text));
  }
  if (others.length === 0) return only;
  const nonces = [only, ...others]
    .slice(0, MAX_NAMED)
    .map(
      (one) =>
        `  ${one.nonce}  ${placeOf(one)}, ${isInGrace(one) ? statusText(one) : `valid until ${when(one.expiresAt)}`}`,
    );
  const more = others.length + 1 - nonces.length;
  const list = [...nonces, ...(more > 0 ? [`  and ${more} more`] : [])].map(harmless).join('\n');
  throw usageError(`${others.length + 1} valid keys have the name "${harmless(handle)}". Use a nonce:\n${list}`);
}

export function isLive({ revoked, expiresAt, graceEndsAt }: TokenItem): boolean {
  return !revoked && Math.min(expiresAt, graceEndsAt ?? expiresAt) * 1000 > Date.now();
}

function placeOf({ kind, projectSlug }: TokenItem): string {
  if (kind === 'master') return 'master key';
  return projectSlug === null ? 'for the whole organization' : `project ${projectSlug}`;
}

/** Keys that were rotated, still work, and are what this one came from, by one rotation or by several; the last one first. */
export function forerunners(listed: readonly TokenItem[], heir: TokenItem): TokenItem[] {
  const replaced = new Map(listed.map((one) => [one.replacedBy, one]));
  const found: TokenItem[] = [];
  let before = replaced.get(heir.nonce);
  while (before !== undefined) {
    if (isLive(before)) found.push(before);
    // Whatever a server says, each is met once.
    replaced.delete(before.replacedBy);
    before = replaced.get(before.nonce);
  }
  return found;
}

function isInGrace({ graceEndsAt }: TokenItem): boolean {
  return typeof graceEndsAt === 'number';
}

/** A key of hours is made to end: it is no news that it does. */
function endsSoon({ issuedAt = Infinity, expiresAt }: TokenItem): boolean {
  return expiresAt - issuedAt > SHORT_SECONDS && expiresAt - Date.now() / 1000 < SOON_SECONDS;
}

function leftText(seconds: number): string {
  const [n, unit] = seconds < DAY ? [Math.floor(seconds / 3600), 'hour'] : [Math.floor(seconds / DAY), 'day'];
  return n === 1 ? `1 ${unit}` : `${n} ${unit}s`;
}

/** What a token is now, in a colour. */
export function statusOf(one: TokenItem): Span {
  const style = !isLive(one) ? 'dim' : isInGrace(one) || endsSoon(one) ? 'yellow' : 'green';
  return span(statusText(one), style);
}

export function statusText(one: TokenItem): string {
  if (one.revoked) return 'revoked';
  if (!isLive(one)) return 'expired';
  if (isInGrace(one)) return `ends ${when(one.graceEndsAt ?? 0)}`;
  return endsSoon(one) ? `ends in ${leftText(one.expiresAt - Date.now() / 1000)}` : 'live';
}

/** Unix seconds as people read them, UTC. */
export function when(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

/** Of a token by its nonce; with a project the server answers only for keys of that one. */
export function tokenPath(nonce: string, project?: string): string {
  return project === undefined ? `/tokens/${nonce}` : `${projectPath(project)}/tokens/${nonce}`;
}

/** @throws ExitError (usage) for a slug that would make it another path. */
export function projectPath(slug: string): string {
  if (['', '.', '..'].includes(slug)) throw usageError(`"${slug}" is not a project slug`);
  return `/projects/${encodeURIComponent(slug)}`;
}
