/** The bound against what the server really renders: a line more there, and this fails. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientConfigInput, clientConfig } from '../../control/networks/wireguard-config.ts';
import { configBound } from './config-bound.ts';
import { withoutRemarks } from './config-delivery.ts';
import type { Network } from './items.ts';

const KEY = 'dwdtCnMYpX08FsFyUbJmRd9MLw+HrJkqsXf7pR25LCo=';

interface Case {
  readonly cidr: string;
  readonly dns: string[];
  readonly extra: string[];
  readonly endpoint: string;
}

/** Characters that the bound has left over. */
function spareOf({ cidr, dns, extra, endpoint }: Case): number {
  const input = {
    network: { name: 'home', cidr, dns, extraAllowedIps: extra, serverPublicKey: KEY },
    endpoint,
    // The address with the most digits that the network has.
    device: { name: 'phone', host: 200, publicKey: KEY, extraAllowedIps: [] },
  };
  const text = clientConfig(input as unknown as ClientConfigInput).replace(/^PrivateKey = .*$/m, `PrivateKey = ${KEY}`);
  const network = { cidr, dns, extra_allowed_ips: extra, public_endpoint: endpoint };
  return configBound(network as unknown as Network).length - withoutRemarks(text).length;
}

test('no configuration is longer than its bound, which is not far off', () => {
  const many = Array.from({ length: 20 }, (_, i) => `192.168.${100 + i}.0/24`);
  for (const [what, network] of Object.entries<Case>({
    least: { cidr: '10.8.0.0/24', dns: [], extra: [], endpoint: 'a.io:30000' },
    usual: { cidr: '10.80.0.0/24', dns: ['10.80.0.1'], extra: [], endpoint: 'tunnels.example.com:30000' },
    'long values': {
      cidr: '192.168.255.0/24',
      dns: ['255.255.255.255', '2001:db8:1111:2222:3333:4444:5555:6666'],
      extra: many,
      endpoint: `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com:30000`,
    },
  })) {
    const spare = spareOf(network);
    // With 50 more a code has four columns more than it needs, or eight.
    assert.ok(spare >= 0 && spare <= 50, `${what}: ${spare} characters left over`);
  }
});
