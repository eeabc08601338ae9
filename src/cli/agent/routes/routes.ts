/**
 * Several services behind one name, as `--route` or `[[tunnels.NAME.routes]]` say them: made into the targets of one tunnel. The options for the way to a
 * service apply to each of them.
 */
import { folderOfUrl } from '../../../agent/files/folder-target.ts';
import { RouteError, routeList, type RouteText } from '../../../agent/local/route-list.ts';
import type { RouteSpec } from '../../../agent/local/route-spec.ts';
import type { TunnelSpec } from '../../../agent/tunnel.ts';
import type { TunnelSettings } from '../../../config/agent.ts';
import { usageError } from '../../terminal/exit.ts';
import { folderAt } from '../files.ts';
import type { UpstreamInput, UpstreamKey } from '../upstream/upstream-input.ts';
import { TLS_KEYS, type Upstream, upstreamOf } from '../upstream/upstream-options.ts';

type Key = UpstreamKey | 'target' | 'routes' | 'spa' | 'listing';

export interface RoutesInput extends Omit<UpstreamInput, 'target' | 'mistake'> {
  /** For the paths that no route has; undefined: those are not found. */
  readonly target: string | undefined;
  readonly routes: readonly RouteText[];
  /** Of folders. */
  readonly choice: { readonly spa?: boolean | undefined; readonly listing?: boolean | undefined };
  readonly mistake: (key: Key, text: string) => Error;
  /** Throws for a folder that this settings file may not publish. */
  readonly requireAllowed?: (path: string) => void;
}

export type Routed = Pick<TunnelSpec, 'target' | 'protocol' | 'upstream'> & Partial<Pick<TunnelSpec, 'routes'>>;

/** `/api=8080` each; none: the tunnel has one service. @throws ExitError (usage) */
export function routesOfFlag(flags: Readonly<Record<string, unknown>>): readonly RouteText[] {
  const given = flags['route'];
  const texts: readonly string[] = Array.isArray(given) ? given : [];
  return texts.map((text) => {
    const at = text.indexOf('=');
    if (at > 0 && at < text.length - 1) return { path: text.slice(0, at), target: text.slice(at + 1) };
    throw usageError(`--route: "${text}" is not PATH=TARGET, such as /api=8080`);
  });
}

export function routesOfSettings({ routes }: TunnelSettings): readonly RouteText[] {
  return (routes ?? []).map(({ path, target }) => ({ path, target: String(target) }));
}

/** @throws what `mistake` makes */
export function routedOf(input: RoutesInput): Routed {
  const { protocol, mistake } = input;
  if (protocol === 'tcp') throw mistake('routes', 'is for http and https tunnels only');
  const asked = listOf(input);
  const found = asked.map((route) => ({ path: route.path, ...serviceOf(route, input) }));
  refuseUnused(input, asked, found);
  const main = found.find(({ path }) => path === '/') ?? found[0];
  if (main === undefined) throw new TypeError('a list of routes is never empty');
  const routes: RouteSpec[] = found.map(({ path, target: service, upstream }) => ({ path, target: service, upstream }));
  return { target: main.target, protocol: main.protocol, upstream: undefined, routes };
}

function listOf({ routes, target, mistake }: RoutesInput): readonly RouteText[] {
  try {
    return routeList(routes, target);
  } catch (error) {
    if (error instanceof RouteError) throw mistake('routes', error.message);
    throw error;
  }
}

function serviceOf({ path, target }: RouteText, input: RoutesInput): Upstream {
  const mistake = (key: UpstreamKey | 'target', text: string): Error =>
    key === 'target' && (path !== '/' || input.target === undefined)
      ? input.mistake('routes', `${path}: ${text}`)
      : input.mistake(key, text);
  const own: UpstreamInput = { ...input, target, mistake, isOneOfSeveral: true };
  const folder = folderOfUrl(target, input.folder);
  if (folder === undefined) return upstreamOf(own);
  input.requireAllowed?.(folder);
  const choice = { spa: input.choice.spa === true, listing: input.choice.listing !== false };
  // Nothing of what the options say concerns a folder: they are for the other services.
  return { ...folderAt(folder, choice, { ...own, values: {}, verifyTls: false }), upstream: undefined };
}

/** An option that no service has a use for. */
function refuseUnused(input: RoutesInput, asked: readonly RouteText[], found: readonly Upstream[]): void {
  const { values, choice, folder, mistake } = input;
  if (!found.some(({ target }) => target.tls)) {
    const unused = TLS_KEYS.find((key) => values[key] !== undefined);
    if (unused !== undefined) throw mistake(unused, 'is for services that speak TLS, and no route has one');
  }
  if (asked.some(({ target }) => folderOfUrl(target, folder) !== undefined)) return;
  for (const key of ['spa', 'listing'] as const) {
    if (choice[key] !== undefined) throw mistake(key, 'is for a target that is a folder, such as file:///srv/www');
  }
}
