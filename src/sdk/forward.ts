/** `forward`: a public URL for your service. */
import { isUpstreamProtocol, overHttp2, type UpstreamProtocol } from '../agent/http2/service.ts';
import { routeList } from '../agent/local/route-list.ts';
import { parseTarget, TargetError } from '../agent/local/target.ts';
import type { TunnelSpec } from '../agent/tunnel.ts';
import { formOf } from '../cli/agent/upstream/upstream-form.ts';
import type { UpstreamInput } from '../cli/agent/upstream/upstream-input.ts';
import { CulvertError } from './error.ts';
import { gatesOf } from './gates.ts';
import { asUsage } from './settings.ts';
import { openTunnel } from './tunnel.ts';
import type { ForwardOptions, Tunnel } from './types.ts';

/** Names of the options. */
const OPTIONS: Readonly<Record<string, string>> = {
  target: 'to',
  host_header: 'hostHeader',
  path_prefix: 'pathPrefix',
};
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
  const narrow = gatesOf(options, protocol);
  return openTunnel({ ...found, subdomain: name, project, inspect, narrow }, options);
}

function inputOf(
  { hostHeader, pathPrefix }: ForwardOptions,
  protocol: UpstreamInput['protocol'],
): Pick<UpstreamInput, 'values' | 'mistake'> {
  const foreign = hostHeader === undefined ? 'pathPrefix' : 'hostHeader';
  if (protocol === 'tcp' && (hostHeader ?? pathPrefix) !== undefined)
    throw new CulvertError('usage', `${foreign}: is for http and https tunnels only`);
  return {
    values: { host_header: hostHeader, path_prefix: pathPrefix },
    mistake: (key, text) => new CulvertError('usage', `${OPTIONS[key] ?? key}: ${text}`),
  };
}

type Services = Pick<TunnelSpec, 'target' | 'protocol' | 'upstream' | 'routes'>;

/** @throws TargetError, CulvertError */
function servicesOf(options: ForwardOptions, protocol: TunnelSpec['protocol'], mode: UpstreamProtocol): Services {
  const { to, routes } = options;
  const rest = to === undefined ? undefined : String(to);
  const input = inputOf(options, protocol);
  const serviceOf = (text: string): Services => {
    const found = parseTarget(text, protocol);
    const target = mode === 'http1' ? found.target : overHttp2(found.target, mode);
    return { target, protocol: found.protocol, upstream: formOf(input, found) };
  };
  if (routes === undefined) return serviceOf(rest ?? '');
  if (protocol === 'tcp') throw new TargetError('routes: a tcp tunnel has no paths');
  const list = routeList(
    routes.map(({ path, to: target }) => ({ path, target: String(target) })),
    rest,
  );
  const found = list.map(({ path, target }) => ({ path, ...serviceOf(target) }));
  const main = found.find(({ path }) => path === '/') ?? found[0];
  if (main === undefined) throw new TypeError('a list of routes is never empty');
  const each = found.map(({ path, target, upstream }) => ({ path, target, upstream }));
  return { target: main.target, protocol: main.protocol, upstream: undefined, routes: each };
}
