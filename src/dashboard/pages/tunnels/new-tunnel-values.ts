/** What the form of a new tunnel holds, what is wrong with it, and what is sent. Pure; the fields are named as the API names them. */
import type { Schemas, Tunnel } from '../../api/types.ts';
import { nameFault, type NamingProject } from './tunnel-name.ts';

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
  { value: 'http', label: 'HTTP', about: 'A web service that speaks plain HTTP on your machine.' },
  { value: 'https', label: 'HTTPS', about: 'A web service that speaks TLS itself. Its certificate may be any.' },
  { value: 'websocket', label: 'WebSocket', about: 'As HTTP, for a service that is there for its sockets.' },
  {
    value: 'tcp',
    label: 'TCP',
    about: 'Any service, on a port of the server. Passwords and visitor login do not apply.',
  },
] as const satisfies ReadonlyArray<{ value: Tunnel['protocol']; label: string; about: string }>;

export function portFault(port: number | string): string | undefined {
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return undefined;
  return 'The port that your service listens on: 1 to 65535.';
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
