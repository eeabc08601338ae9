/**
 * What testssl.sh says of the listeners that speak TLS: the edge and the API, with a certificate as authorities issue them. It takes minutes:
 * `npm run soak -- testssl`. Anything above LOW is a fault.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { checkServerConfig } from '../../src/config/load.ts';
import { startServer } from '../../src/server/start.ts';

interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

/** Of testssl's own grades. WARN is about the machine that it runs on. */
const FAULTY = new Set(['MEDIUM', 'HIGH', 'CRITICAL', 'FATAL']);
/** Far above what a listener takes, also on a busy machine. */
const MAX_MS = 900_000;

/** True when nothing above LOW was found. Prints what was found. */
export async function testssl(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'culvert-testssl-'));
  try {
    const root = makeCertificate(folder);
    const server = await startServer(settingsIn(folder), { version: '0.0.0-test', log: silentLog });
    try {
      const { https, api } = server.addresses;
      if (https === null) throw new Error('the edge speaks no TLS');
      const edge = await look('edge', https.port, { folder, root });
      return (await look('API', api.port, { folder, root })) && edge;
    } finally {
      await server.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function look(name: string, port: number, { folder, root }: { folder: string; root: string }): Promise<boolean> {
  const file = join(folder, `${port}.json`);
  const args = ['--quiet', '--color', '0', '--warnings', 'off', '--add-ca', root, '--severity', 'LOW'];
  const child = spawn('testssl', [...args, '--jsonfile', file, `localhost:${port}`], {
    stdio: 'ignore',
    timeout: MAX_MS,
  });
  await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  const findings = JSON.parse(readFileSync(file, 'utf8')) as readonly Finding[];
  for (const { id, severity, finding } of findings) console.log(`${name}: ${severity} ${id}: ${finding}`);
  const faulty = findings.filter(({ severity }) => FAULTY.has(severity));
  console.log(`${name}: ${faulty.length === 0 ? 'nothing above LOW' : `${faulty.length} above LOW`}`);
  return faulty.length === 0;
}

/** With what testssl asks of a certificate: an authority, a place for revocations. Returns the file of the root. */
function makeCertificate(folder: string): string {
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '30',
    '-subj',
    '/CN=Test CA',
  );
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', 'key.pem');
  openssl('req', '-new', '-key', 'key.pem', '-subj', '/CN=localhost', '-out', 'leaf.csr');
  writeFileSync(
    at('extensions'),
    [
      'subjectAltName=DNS:localhost,DNS:*.localhost',
      'keyUsage=critical,digitalSignature',
      'extendedKeyUsage=serverAuth',
      'basicConstraints=critical,CA:FALSE',
      'crlDistributionPoints=URI:http://crl.example.com/ca.crl',
      'authorityInfoAccess=OCSP;URI:http://ocsp.example.com',
      'certificatePolicies=2.23.140.1.2.1',
    ].join('\n'),
  );
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-days', '80', '-extfile', 'extensions'];
  openssl('x509', '-req', '-in', 'leaf.csr', ...signed, '-out', 'leaf.pem');
  writeFileSync(at('cert.pem'), readFileSync(at('leaf.pem'), 'utf8') + readFileSync(at('ca.pem'), 'utf8'));
  return at('ca.pem');
}

function settingsIn(folder: string) {
  const text = `data_dir = "${folder}/data"
[api]
listen = "127.0.0.1:0"
tls = true
[edge]
http_listen = ""
https_listen = "127.0.0.1:0"
[edge.tls]
mode = "files"
cert_file = "${folder}/cert.pem"
key_file = "${folder}/key.pem"
[agents]
listen = "127.0.0.1:0"`;
  return checkServerConfig(text, 'testssl.toml').settings;
}
