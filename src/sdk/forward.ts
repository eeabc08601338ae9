/** `forward`: a public URL for your service. */
import { parseTarget } from '../agent/local/target.ts';
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
  const { to, protocol = 'http', name, project, inspect } = options;
  if (!PROTOCOLS.includes(protocol)) throw new CulvertError('usage', `protocol: must be ${PROTOCOLS.join(', ')}`);
  const found = asUsage(() => parseTarget(String(to), protocol));
  if (name !== undefined && protocol === 'tcp')
    throw new CulvertError('usage', 'name: a tcp tunnel has a port, no name');
  return openTunnel({ ...found, subdomain: name, project, inspect }, options);
}
