/** What subjects with TLS to the visitor agree on with a client: a ratio between two of them says something only when it is the same. */
import type { Processes } from './processes.ts';
import { HOST, type Subject } from './subject.ts';

/** One line for the report; it says so when they differ. */
export async function describeTls(processes: Processes, subjects: Iterable<Subject>): Promise<string | undefined> {
  const found: (readonly [name: string, terms: string])[] = [];
  for (const subject of subjects)
    if (subject.scheme === 'https') found.push([subject.name, await termsOf(processes, subject)]);
  if (found.length === 0) return undefined;
  const isSame = found.every(([, terms]) => terms === found[0]?.[1]);
  const text = isSame ? found[0]?.[1] : found.map(([name, terms]) => `${name}: ${terms}`).join('; ');
  return `TLS to the visitor: ${text}${isSame ? '' : ' (NOT ALIKE: ratios between them say little)'}`;
}

/** Version, cipher, key exchange and kind of certificate, as openssl names them. */
async function termsOf(processes: Processes, { address, port }: Subject): Promise<string> {
  const { stdout, stderr } = await processes.run([
    'openssl',
    ...['s_client', '-connect', `${address}:${port}`, '-servername', HOST],
  ]);
  const said = stdout + stderr;
  const [version, cipher] = (/New, (\S+), Cipher is (\S+)/.exec(said) ?? []).slice(1);
  const exchange = /(?:Server Temp Key|Negotiated TLS1\.3 group): ([\w-]+)/.exec(said)?.[1];
  const signature = /Peer signature type: (\S+)/.exec(said)?.[1];
  return [version, cipher, exchange, signature].map((term) => term ?? '?').join(' ');
}
