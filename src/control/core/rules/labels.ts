/**
 * Labels under the edge's domain: what is one, what a token may use, which are reserved, and random ones for people who named
 * none. Pure; used by tunnels, access keys, projects and reserved subdomains.
 */
import { randomInt } from 'node:crypto';

/** DNS takes no longer one (RFC 1035 §2.3.4). */
const MAX_LABEL = 63;
export const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What `allowedSubdomains` may hold: `*`, a label, or `prefix-*`. */
export const SUBDOMAIN_PATTERN = /^(?:\*|[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:-\*)?)$/;

/** Names that visitors would take for the operator's own, and those that mail and browsers treat specially. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set(
  (
    'www api app admin administrator root system support help status docs blog mail smtp imap pop webmail mx ns ns1 ns2 dns ftp ' +
    'login signin signup auth oauth sso account accounts dashboard console portal billing pay secure security static assets cdn ' +
    'edge agent agents relay tunnel tunnels culvert localhost wpad autoconfig autodiscover isatap postmaster hostmaster webmaster abuse metrics health'
  ).split(' '),
);

/** 1..63 of `[a-z0-9-]`, no dash at either end. Upper case is refused, not folded: one name has one spelling. */
export function isLabel(text: string): boolean {
  return LABEL.test(text);
}

export function isSystemName(label: string): boolean {
  // `xn--` would let a label look like any other in an address bar.
  return SYSTEM_NAMES.has(label) || label.startsWith('xn--');
}

/** The full label of a name in a project (`<name>-<project_slug>`); the default project adds nothing. */
export function fullLabel(name: string, project: { slug: string; isDefault: boolean }): string {
  return project.isDefault ? name : `${name}-${project.slug}`;
}

/** The name inside its project: `fullLabel` undone. */
export function nameIn(label: string, project: { slug: string; isDefault: boolean }): string {
  return project.isDefault ? label : label.slice(0, -(project.slug.length + 1));
}

/** Tries for a random name that is free; with 37 million names one is enough. */
export const NAME_TRIES = 5;

/** Characters that a name in this project may have: what its suffix leaves of a label. */
export function roomIn(project: { slug: string; isDefault: boolean }): number {
  return project.isDefault ? MAX_LABEL : Math.max(MAX_LABEL - project.slug.length - 1, 0);
}

export function isSubdomainPattern(text: string): boolean {
  return text.length <= MAX_LABEL && SUBDOMAIN_PATTERN.test(text);
}

/** Does one of the patterns allow all that this one allows? */
export function isWithin(pattern: string, patterns: readonly string[]): boolean {
  if (!pattern.endsWith('*')) return isAllowedName(pattern, patterns);
  return patterns.some((other) => other.endsWith('*') && pattern.startsWith(other.slice(0, -1)));
}

/** Does one of the patterns allow this name (without project suffix)? */
export function isAllowedName(name: string, patterns: readonly string[]): boolean {
  return patterns.some(
    (pattern) =>
      pattern === '*' ||
      pattern === name ||
      (pattern.endsWith('-*') && name.length >= pattern.length && name.startsWith(pattern.slice(0, -1))),
  );
}

const FIRST =
  'amber brave brisk bright calm clever coral crisp dapper eager early fancy fleet fresh gentle giant glad golden happy hardy honest jolly keen kind lively lucky mellow merry mighty modest neat noble olive polite proud quick quiet rapid ruby sandy sharp shiny silent silver smart snowy solid sunny swift tidy vivid warm wise witty'.split(
    ' ',
  );
const SECOND =
  'badger beacon beaver birch bison breeze brook canyon cedar cliff clover comet coyote crane creek dolphin dune eagle falcon fern finch forest fox garden glade harbor hawk heron hill island jaguar juniper lake lark lemur lynx maple marten meadow meteor moose oak ocean orchid otter owl panda pebble pine planet plover puffin quail raven reef ridge river robin salmon sparrow spruce stream swan thistle tiger valley walrus willow wren'.split(
    ' ',
  );

const RANDOM_DIGITS = 8;
/** Behind a chosen prefix: two thousand million of them. */
const PREFIXED_DIGITS = 6;

/**
 * A readable name such as `brave-otter-4821`: about 37 million of them, so that guessing one that is online is slow work. Where a long suffix
 * leaves too little room for that, as many letters and digits as fit, up to eight; empty where nothing fits.
 */
export function randomName(room = MAX_LABEL): string {
  const pick = (words: readonly string[]): string => words[randomInt(words.length)] ?? 'tunnel';
  const name = `${pick(FIRST)}-${pick(SECOND)}-${randomInt(1000, 10_000)}`;
  return name.length <= room ? name : randomDigits(Math.min(room, RANDOM_DIGITS));
}

/**
 * A random name that the patterns allow, of at most `room` characters where they leave the choice; undefined when they hold exact names only
 * and all of those are in `inUse`.
 */
export function nameWithin(patterns: readonly string[], inUse: ReadonlySet<string>, room: number): string | undefined {
  if (patterns.includes('*')) return randomName(room);
  const exact = patterns.find((pattern) => !pattern.endsWith('-*') && !inUse.has(pattern));
  if (exact !== undefined) return exact;
  const prefixes = patterns.filter((pattern) => pattern.endsWith('-*')).map((pattern) => pattern.slice(0, -1));
  const prefix = prefixes.find(({ length }) => length + PREFIXED_DIGITS <= room) ?? prefixes[0];
  return prefix === undefined ? undefined : prefix + randomDigits(PREFIXED_DIGITS);
}

function randomDigits(count: number): string {
  return Array.from({ length: count }, () => randomInt(36).toString(36)).join('');
}
