/** The values of the form for a new tunnel: name, lifetime, and the request. Pure: tested without a browser. */
import type { Schemas, Tunnel } from '../../api/types.ts';
import { spanText } from '../../parts/format.ts';

/** What the form of a new tunnel holds, what is wrong with it, and what is sent. Pure; the fields are named as the API names them. */
export interface NewTunnelValues {
  readonly protocol: Tunnel['protocol'];
  readonly localPort: number | string;
  readonly subdomain: string;
  /** Slug; null: the default project. */
  readonly projectSlug: string | null;
  /** Seconds as text; empty: as long as the plan allows. */
  readonly ttlSeconds: string;
}

export const BLANK: NewTunnelValues = {
  protocol: 'http',
  localPort: '',
  subdomain: '',
  projectSlug: null,
  ttlSeconds: '',
};

export const PROTOCOLS = [
  { value: 'http', label: 'HTTP', about: 'A web service with plain HTTP on your machine.' },
  { value: 'https', label: 'HTTPS', about: 'A web service with TLS. Any certificate is accepted.' },
  { value: 'websocket', label: 'WebSocket', about: 'Like HTTP, for a WebSocket service.' },
  {
    value: 'tcp',
    label: 'TCP',
    about: 'Any service, on a port of the server. Passwords and visitor login do not apply.',
  },
] as const satisfies ReadonlyArray<{ value: Tunnel['protocol']; label: string; about: string }>;

function portFault(port: number | string): string | undefined {
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return undefined;
  return 'Enter the port of your service, 1 to 65535.';
}

/** By field; none where all is well. */
export function faultsOf(
  { localPort, subdomain }: NewTunnelValues,
  project: NamingProject | undefined,
): { localPort?: string; subdomain?: string } {
  const [port, name] = [portFault(localPort), nameFault(subdomain, project)];
  return { ...(port === undefined ? {} : { localPort: port }), ...(name === undefined ? {} : { subdomain: name }) };
}

export function bodyOf(values: NewTunnelValues): Schemas['NewTunnel'] {
  const { protocol, localPort, subdomain, projectSlug, ttlSeconds } = values;
  return {
    protocol,
    localPort: Number(localPort),
    ...(subdomain === '' ? {} : { subdomain }),
    ...(projectSlug === null ? {} : { projectSlug }),
    ...(ttlSeconds === '' ? {} : { ttlSeconds: Number(ttlSeconds) }),
  };
}

/** A label of DNS (RFC 1035). */
const MAX_LABEL = 63;
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** The public name that a new tunnel would get, and what is wrong with one: by the rules of the API, shown while the user types. */
interface NamingProject {
  readonly slug: string;
  readonly isDefault: boolean;
}

/** What a project puts behind each name; the default one nothing. */
function suffixOf(project: NamingProject | undefined): string {
  return project === undefined || project.isDefault ? '' : `-${project.slug}`;
}

/** Why the name can't be had, or undefined; an empty one is: the server picks one then. Whether it is taken the server alone knows. */
export function nameFault(name: string, project: NamingProject | undefined): string | undefined {
  if (name === '') return undefined;
  if (/[A-Z]/.test(name)) return 'Use lowercase only.';
  if (/^-|-$/.test(name)) return "A name can't begin or end with a dash.";
  if (!LABEL.test(name)) return 'Use only a to z, 0 to 9 and dashes.';
  const room = MAX_LABEL - suffixOf(project).length;
  if (name.length <= room) return undefined;
  const behind = room === MAX_LABEL ? '' : ` before ${suffixOf(project)}`;
  return `A name can have at most ${Math.max(room, 0)} characters${behind}. This one has ${name.length}.`;
}

/** `shop-web.example.com`; with a placeholder while there is no name. */
export function publicName(name: string, project: NamingProject | undefined, edgeDomain: string): string {
  return `${name === '' ? '<random name>' : name}${suffixOf(project)}.${edgeDomain}`;
}

const HOUR = 3600;
const PRESETS = [HOUR, 8 * HOUR, 24 * HOUR, 7 * 24 * HOUR, 30 * 24 * HOUR] as const;

/** How long a new tunnel may live: what the plan allows, and a choice of what people ask for. */
interface TtlChoice {
  /** Seconds as text; empty: as long as the plan allows. */
  readonly value: string;
  readonly label: string;
}

/** `max`: seconds, null = the plan knows no end. */
export function ttlChoices(max: number | null): readonly TtlChoice[] {
  const longest = { value: '', label: max === null ? 'Never' : `${spanOf(max)}, the maximum of your plan` };
  const shorter = PRESETS.filter((seconds) => max === null || seconds < max);
  return [longest, ...shorter.map((seconds) => ({ value: String(seconds), label: spanOf(seconds) }))];
}

/** 3600 → "1 hour". */
function spanOf(seconds: number): string {
  const [count, unit] = seconds % (24 * HOUR) === 0 ? [seconds / (24 * HOUR), 'day'] : [seconds / HOUR, 'hour'];
  if (!Number.isInteger(count)) return spanText(seconds * 1000);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
