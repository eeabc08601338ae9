/** A DNS provider of a test with an API of its own, and the program for `acme.dns_hook` that speaks it. Needs curl. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DnsServer } from './dns.ts';
import type { Ends } from './ends.ts';

export interface DnsProvider {
  /** Path of the program. */
  readonly hook: string;
  /** `present <fqdn>` and `cleanup <fqdn>`, in order. */
  readonly actions: string[];
}

/** Writes into the records of `dns`. Ends with the test. */
export async function startDnsProvider(t: Ends, dns: DnsServer): Promise<DnsProvider> {
  const actions: string[] = [];
  const server = createServer((request, response) => {
    const [, action = '', fqdn = '', value = ''] = (request.url ?? '').split('/');
    actions.push(`${action} ${fqdn}`);
    const others = (dns.txt.get(fqdn) ?? []).filter((record) => record.join('') !== value);
    if (action === 'present') dns.txt.set(fqdn, [...others, [value]]);
    else if (others.length > 0) dns.txt.set(fqdn, others);
    else dns.txt.delete(fqdn);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const folder = mkdtempSync(join(tmpdir(), 'culvert-dns-hook-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const hook = join(folder, 'hook');
  writeFileSync(hook, `#!/bin/sh\nexec curl -sSf -X POST "http://127.0.0.1:${port}/$1/$2/$3"\n`, { mode: 0o700 });
  return { hook, actions };
}
