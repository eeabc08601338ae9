/** The Internet of the stopwatch, in a network namespace: DNS, a certificate authority, and downloads of a release. Prints one line of JSON once all serve. */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, normalize } from 'node:path';
import { once } from 'node:events';
import { startDns } from '../harness/dns.ts';
import { Ending } from '../harness/ends.ts';
import { startPebble } from '../harness/pebble.ts';

const [address = '', server = '', release = ''] = process.argv.slice(2);
const ending = new Ending();
process.once('SIGTERM', () => void ending.run().then(() => process.exit(0)));

const dns = await startDns(ending, { host: address, port: 53 });
dns.address4 = (name) => {
  if (/(^|\.)example\.test$/.test(name)) return server;
  return /^(acme|downloads)\.test$/.test(name) ? address : undefined;
};
const downloads = createServer(({ url = '/' }, response) => {
  const file = join(release, normalize(new URL(url, 'http://downloads.test').pathname));
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isFile() === true) {
    response.writeHead(200, { 'content-length': found.size });
    createReadStream(file).pipe(response);
  } else response.writeHead(404).end();
});
downloads.listen(80, address);
await once(downloads, 'listening');
const { directoryUrl, caFile, root } = await startPebble(ending, {
  dnsServer: dns.address,
  httpPort: 80,
  tlsPort: 443,
  at: { address, name: 'acme.test' },
});
process.stdout.write(`${JSON.stringify({ directoryUrl, caFile, root })}\n`);
