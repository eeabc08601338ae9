// group: slow
/**
 * A stopwatch from nothing to a public HTTPS URL: minimal Debian roots in network namespaces, a DNS server, pebble as the certificate authority,
 * and a release to download. Every line that an operator types is printed with its seconds.
 */
import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Processes } from '../../scripts/bench/processes.ts';
import { Places, SERVER_ADDRESS } from '../../scripts/wireguard/places.ts';
import { missing, noNamespaces, run } from '../harness/tools.ts';
import { noBareRoot } from './bare-root.ts';
import { makeDebian, systemsFolder } from './debian-root.ts';
import { type Machine, playSystemd, startLine, type TypedLine } from './stopwatch-machine.ts';

const project = join(import.meta.dirname, '../..');
const skip =
  noNamespaces() ||
  noBareRoot() ||
  missing('debootstrap', 'pebble', 'xz') ||
  (process.arch !== 'x64' && 'this machine is not x64');
const folder = systemsFolder('stopwatch');
after(() => rmSync(folder, { recursive: true }));

/** Images of hosting companies have them; the smallest Debian does not. */
const TOOLS = ['ca-certificates', 'curl', 'openssl'];
/** Second client of the hub. */
const INTERNET_ADDRESS = '10.97.2.2';
const PASSWORD = 'seven green bottles sit';
const MOST = { server: 4, laptop: 3, seconds: 120 };

test('from nothing to a public HTTPS URL: few lines, and two minutes', { skip, timeout: 500_000 }, async (t) => {
  const release = join(folder, 'release');
  const options = ['--out', release, '--targets', 'linux-x64', '--kinds', 'archive'];
  const made = await run([process.execPath, join(project, 'scripts/release.ts'), ...options], 180_000);
  assert.equal(made.code, 0, made.stderr);
  const server = join(folder, 'server');
  const inside = await makeDebian(t, server, { suite: 'bookworm', packages: TOOLS });
  if (inside === undefined) return;
  writeFileSync(join(server, 'etc/resolv.conf'), `nameserver ${INTERNET_ADDRESS}\n`);

  const processes = new Processes();
  t.after(() => processes.close());
  const places = await Places.make(processes, 2);
  const script = join(import.meta.dirname, 'stopwatch-internet.ts');
  const internet = [process.execPath, script, INTERNET_ADDRESS, SERVER_ADDRESS, release];
  processes.start('internet', internet, { netns: places.client(2) });
  const [line = ''] = await processes.waitForOutput('internet', /^\{.*\}$/m);
  const { directoryUrl, caFile, root } = JSON.parse(line) as Record<'directoryUrl' | 'caFile' | 'root', string>;
  // The test's authority in the place of a public one: every machine trusts it.
  writeFileSync(join(server, 'usr/local/share/ca-certificates/test-authority.crt'), root);
  inside('/usr/sbin/update-ca-certificates');
  const laptop = join(folder, 'laptop');
  assert.equal((await run(['cp', '-a', server, laptop])).code, 0);
  assert.equal((await run(['chroot', laptop, '/usr/sbin/useradd', '--create-home', 'ann'])).code, 0);
  playSystemd(server);
  mkdirSync(join(server, 'run/systemd/system'), { recursive: true });
  copyFileSync(caFile, join(server, 'etc/ssl/acme.pem'));
  chmodSync(join(server, 'etc/ssl/acme.pem'), 0o644);

  const machines = {
    server: { root: server, netns: places.hub },
    laptop: { root: laptop, netns: places.client(1) },
  };
  t.after(() => endServer(server));
  const typed: TypedLine[] = [{ machine: 'server', line: `apt-get install -y ${TOOLS.join(' ')}`, seconds: 0 }];
  const clock = (machine: string, line: string, began: number): void => {
    typed.push({ machine, line, seconds: (performance.now() - began) / 1_000 });
  };
  const type = async (machine: keyof typeof machines, line: string): Promise<string> => {
    const began = performance.now();
    const program = startLine(machines[machine], line);
    assert.equal(await program.ended(), 0, program.output);
    clock(machine, line, began);
    return program.output;
  };

  const from = 'http://downloads.test';
  await type('server', `curl -fsSL ${from}/get.sh | sh -s -- --from ${from}`);
  const authority = `--acme-directory ${directoryUrl} --acme-ca-file /etc/ssl/acme.pem`;
  const setUp = await type('server', `culvert setup example.test --email ann@example.test ${authority}`);
  assert.match(setUp, /^certificate +culvert\.example\.test: valid until/m);

  const ann = new Browser(machines.laptop);
  const token = /reset\?token=(\S+)/.exec(setUp)?.[1];
  await ann.post('/auth/reset', { token, new_password: PASSWORD });
  await ann.logIn('ann@example.test');
  const download = 'https://culvert.example.test/download';
  // For root, as behind sudo.
  await type('laptop', `curl -fsSL ${download}/get.sh | sh -s -- --from ${download}`);
  let began = performance.now();
  const login = startLine(machines.laptop, 'culvert login example.test', 'ann');
  await ann.post('/auth/cli/authorize', { device_code: await login.printed(/\?device_code=(\S+)/) });
  assert.equal(await login.ended(), 0, login.output);
  clock('laptop', 'culvert login example.test', began);

  const service = "require('http').createServer((q, s) => s.end('it works')).listen(3000, '127.0.0.1')";
  processes.start('service', [process.execPath, '-e', service], { netns: places.client(1) });
  began = performance.now();
  const agent = startLine(machines.laptop, 'culvert http 3000 --subdomain shop', 'ann');
  t.after(() => agent.kill());
  const url = await agent.printed(/^(https:\/\/shop\.example\.test)$/m);
  // A visitor: the name by DNS, and the certificate by the trusted authorities of the machine.
  const visit = startLine(machines.laptop, `curl -fsS ${url}/`);
  assert.equal(await visit.ended(), 0, visit.output);
  assert.equal(visit.output, 'it works');
  clock('laptop', 'culvert http 3000 --subdomain shop', began);

  for (const one of typed)
    t.diagnostic(`${one.machine.padEnd(6)}  ${one.seconds.toFixed(1).padStart(5)} s  ${one.line}`);
  const seconds = typed.reduce((sum, one) => sum + one.seconds, 0);
  t.diagnostic(`together ${seconds.toFixed(1)} s; systemctl was a script, and Debian brought ${TOOLS.join(', ')}`);
  for (const machine of ['server', 'laptop'] as const)
    assert.ok(typed.filter((one) => one.machine === machine).length <= MOST[machine], machine);
  assert.ok(seconds <= MOST.seconds, `${seconds} s`);
});

/** What the owner does in the dashboard, from the laptop. */
class Browser {
  readonly #machine: Machine;
  #token = '';

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  async post(path: string, body: object): Promise<Record<string, unknown>> {
    const head = `-H 'content-type: application/json' -H 'authorization: Bearer ${this.#token}'`;
    const line = `curl -fsS https://culvert.example.test${path} ${head} -d '${JSON.stringify(body)}'`;
    const program = startLine(this.#machine, line);
    assert.equal(await program.ended(), 0, `${path}: ${program.output}`);
    return JSON.parse(program.output) as Record<string, unknown>;
  }

  async logIn(email: string): Promise<void> {
    this.#token = String((await this.post('/auth/login', { email, password: PASSWORD }))['access_token']);
  }
}

/** The played systemd has no end of its own. */
function endServer(root: string): void {
  const file = join(root, 'run/culvert.pid');
  if (existsSync(file)) process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
}
