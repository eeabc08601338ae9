/**
 * How long a device's configuration gets at the most, before the server renders it: for the size of its QR code, which must fit the terminal before a
 * key is made that is shown once. Used by devices.ts. It knows what is in a configuration, and nothing of how that is written there.
 */
import type { Network } from './items.ts';

/**
 * Characters around the network's own values, without remarks: two keys and the device's address among them. The server's rendering takes some 220 to 240;
 * `config-bound.test.ts` fails when it has grown to this.
 */
const FRAME = 256;

/** A text with at least as many characters as the configuration of any device of `network`, and in a QR code with as many bits for each. */
export function configBound(network: Network): string {
  const own = [network.public_endpoint ?? '', network.cidr, ...network.dns, ...network.extra_allowed_ips];
  return 'x'.repeat(FRAME + own.join(', ').length);
}
