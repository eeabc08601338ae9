/** The checks of a server: its settings, names, ports, certificates and machine, and what the running server says of itself. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { HOUR_MS } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { loadServerConfig } from '../../config/load.ts';
import type { Settings } from '../../config/schema.ts';
import { findRunning, type Operator } from '../../server/admin.ts';
import { backupReport } from '../../server/backup/report.ts';
import { checkCaa } from '../checks/caa-check.ts';
import { type Check, fail, ok, warn, sentence } from '../checks/check.ts';
import { checkDns } from '../checks/dns-check.ts';
import { listenersOf } from '../checks/listeners.ts';
import { checkClock, checkDescriptors, checkDisk } from '../checks/machine-checks.ts';
import { checkFreePorts, checkInside } from '../checks/port-check.ts';
import { checkCertificate, checkOutsideApi, checkOutsideEdge } from '../checks/reach-check.ts';
import type { System } from '../checks/system.ts';
import type { Io } from '../terminal/io.ts';

/** Checks what can be checked with a broken file, too: its mistakes are the one result then. */
export async function checkServer(
  io: Io,
  file: string,
  systemOf: (resolvers?: readonly string[]) => System,
): Promise<Check[]> {
  const loaded = load(io, file);
  if ('checks' in loaded) return loaded.checks;
  const { settings, config } = loaded;
  const system = systemOf(settings.dns.resolvers);
  const { operator, server } = await running(settings);
  const parts = await Promise.all([
    names(system, settings),
    ports(system, settings, operator),
    checkClock(system, { url: new URL(settings.acme.directory_url), caFile: settings.acme.ca_file }),
    operator === undefined ? machine(system, settings) : health(operator),
  ]);
  return [config, server, ...parts.flat(), mail(settings)];
}

function load(io: Io, file: string): { checks: Check[] } | { settings: Settings; config: Check } {
  try {
    const { settings, warnings } = loadServerConfig(file, io);
    const next = `Correct ${file}, and restart the server.`;
    const config =
      warnings.length === 0
        ? ok('config', `${file} is valid.`)
        : warn('config', `${file} has a doubtful setting: ${sentence(warnings.join('; '))}`, next);
    return { settings, config };
  } catch (error) {
    return { checks: [fail('config', messageOf(error).replaceAll('\n', '; '), `Correct ${file}.`)] };
  }
}

/** The server's own channel; only its user and root may ask. */
async function running(settings: Settings): Promise<{ operator: Operator | undefined; server: Check }> {
  try {
    const operator = await findRunning(settings.data_dir);
    const server =
      operator === undefined
        ? fail('server', `No server runs on ${settings.data_dir}.`, 'Start it: systemctl start culvert')
        : ok('server', `A server runs on ${settings.data_dir}.`);
    return { operator, server };
  } catch (error) {
    const detail = `The server on ${settings.data_dir} can't be queried: ${sentence(messageOf(error))}`;
    return { operator: undefined, server: fail('server', detail, 'Run this as root, or as the user of the server.') };
  }
}

async function names(system: System, settings: Settings): Promise<Check[]> {
  const { domain, public_url: template } = settings.edge;
  const url = new URL(settings.api.public_url);
  if (domain === 'localhost' || domain.endsWith('.localhost'))
    return [ok('dns', `${domain} is this machine for every browser.`)];
  const behindProxy = settings.edge.https_listen === null && template.startsWith('https:');
  const probe = `culvert-check-${randomBytes(4).toString('hex')}.${domain}`;
  const checks = await checkDns(system, { domain, apiHost: url.hostname, probe, behindProxy });
  if (settings.edge.tls.mode !== 'acme') return checks;
  const { directory_url: directoryUrl, challenge } = settings.acme;
  const caa = await checkCaa(system, { host: url.hostname, directoryUrl, wildcard: challenge === 'dns-01' });
  return [...checks, caa];
}

async function ports(system: System, settings: Settings, operator: Operator | undefined): Promise<Check[]> {
  const listeners = listenersOf(settings);
  if (operator === undefined) return checkFreePorts(system, listeners, false);
  const apiUrl = new URL(settings.api.public_url);
  const probe = `culvert-check-${randomBytes(4).toString('hex')}`;
  return [
    ...(await checkInside(system, listeners)),
    await checkOutsideApi(system, { apiUrl, serverId: await serverId(operator) }),
    await checkOutsideEdge(system, new URL(settings.edge.public_url.replace('{subdomain}', probe))),
    await checkCertificate(system, apiUrl),
  ];
}

async function serverId(operator: Operator): Promise<string> {
  const answer = await operator.call('GET', '/.well-known/culvert');
  return z.looseObject({ server_id: z.string() }).parse(answer).server_id;
}

/** Without a server, what it would find at its start. */
async function machine(system: System, settings: Settings): Promise<Check[]> {
  return [await checkDisk(system, settings.data_dir), checkDescriptors(system, null), backups(settings)];
}

/** A running server says the same in its list. */
function backups(settings: Settings): Check {
  const name = 'backups';
  try {
    const { kind, ageMs, reason } = backupReport(settings, Date.now());
    const what = kind === 'off' ? 'backup' : 'scheduled backup';
    const age = ageMs === null ? `There is no ${what}.` : `The newest ${what} is ${Math.round(ageMs / HOUR_MS)} h old.`;
    const now = 'Start the server, which makes one. Until then: culvert backup FILE';
    if (kind === 'off') return ok(name, `Scheduled backups are off. ${age}`);
    if (kind === 'failed') return warn(name, `The last backup failed: ${sentence(reason ?? '')} ${age}`, now);
    if (kind === 'late') return warn(name, ageMs === null ? age : `The last backup is too old. ${age}`, now);
    return ok(name, age);
  } catch (error) {
    const next = 'Run this as root, or as the user of the server.';
    return warn(name, `The state of backups can't be read: ${sentence(messageOf(error))}`, next);
  }
}

const reported = z.object({
  checks: z.array(
    z.looseObject({ name: z.string(), status: z.enum(['ok', 'warn', 'fail']), detail: z.string(), next: z.string() }),
  ),
});

/** What the server checks by itself, and new checks of a later version as well. */
async function health(operator: Operator): Promise<Check[]> {
  const { checks } = reported.parse(await operator.call('GET', '/superadmin/health'));
  return checks.map(({ name, status, detail, next }) => ({ name, status, detail, next }));
}

function mail({ mail: { transport } }: Settings): Check {
  const name = 'mail_transport';
  if (transport === 'smtp') return ok(name, 'Email is sent by SMTP.');
  return warn(
    name,
    'No email is sent: invitations and reset links are written to the log.',
    'Set mail.transport = "smtp" and mail.smtp_url, or hand links over yourself: culvert admin password-link EMAIL',
  );
}
