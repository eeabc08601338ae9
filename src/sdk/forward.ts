/** `forward`: a public URL for your service. */
import { isUpstreamProtocol, overHttp2, type UpstreamProtocol } from '../agent/http2/service.ts';
import { routeList } from '../agent/local/route-list.ts';
import { parseTarget, TargetError } from '../agent/local/target.ts';
import type { TunnelSpec } from '../agent/tunnel.ts';
import { CulvertError } from './error.ts';
import { asUsage } from './settings.ts';
import { openTunnel } from './tunnel.ts';
import type { ForwardOptions, Tunnel } from './types.ts';

const PROTOCOLS: readonly string[] = ['http', 'https', 'tcp'];

/**
 * Publishes your service, and resolves once its public URL works.
 *
 *   const tunnel = await forward({ to: 3000, name: 'shop' });
 *   console.log(tunnel.url);
 *
 * @throws CulvertError whose `code` says what failed.
 */
export async function forward(options: ForwardOptions): Promise<Tunnel> {
  const { protocol = 'http', name, project, inspect, upstreamProtocol: mode = 'http1' } = options;
  if (!PROTOCOLS.includes(protocol)) throw new CulvertError('usage', `protocol: must be ${PROTOCOLS.join(', ')}`);
  if (!isUpstreamProtocol(mode)) throw new CulvertError('usage', 'upstreamProtocol: must be http1, http2 or auto');
  if (mode !== 'http1' && protocol === 'tcp')
    throw new CulvertError('usage', 'upstreamProtocol: is for http and https tunnels only');
  const found = asUsage(() => servicesOf(options, protocol, mode));
  if (name !== undefined && protocol === 'tcp')
    throw new CulvertError('usage', 'name: a tcp tunnel has a port, no name');
  return openTunnel({ ...found, subdomain: name, project, inspect }, options);
}

type Services = Pick<TunnelSpec, 'target' | 'protocol' | 'routes'>;

/** @throws TargetError */
function servicesOf(
  { to, routes }: ForwardOptions,
  protocol: TunnelSpec['protocol'],
  mode: UpstreamProtocol,
): Services {
  const rest = to === undefined ? undefined : String(to);
  if (routes === undefined) return serviceOf(rest ?? '', protocol, mode);
  if (protocol === 'tcp') throw new TargetError('routes: a tcp tunnel has no paths');
  const list = routeList(
    routes.map(({ path, to: target }) => ({ path, target: String(target) })),
    rest,
  );
  const found = list.map(({ path, target }) => ({ path, ...serviceOf(target, protocol, mode) }));
  const main = found.find(({ path }) => path === '/') ?? found[0];
  if (main === undefined) throw new TypeError('a list of routes is never empty');
  return {
    target: main.target,
    protocol: main.protocol,
    routes: found.map(({ path, target }) => ({ path, target })),
  };
}

/** @throws TargetError */
function serviceOf(text: string, protocol: TunnelSpec['protocol'], mode: UpstreamProtocol): Services {
  const { base = '/', ...found } = parseTarget(text, protocol);
  if (base !== '/') throw new TargetError(`"${text}": only the command line can publish one path of a service`);
  return mode === 'http1' ? found : { ...found, target: overHttp2(found.target, mode) };
}
