/**
 * `culvert setup DOMAIN`: from the program to a public server. Checks the machine and its names, writes a short settings file, starts the unit,
 * waits for the certificate and prints one link, with which the owner sets a password. Run again, it changes nothing that is right.
 */
import { readFileSync } from 'node:fs';
import { codeOf } from '../../base/errors.ts';
import { buildInfo } from '../../base/process/version.ts';
import { checkServerConfig, loadServerConfig } from '../../config/load.ts';
import type { Settings } from '../../config/schema.ts';
import { findRunning, type Operator } from '../../server/admin.ts';
import { checkLines, hasFailed } from '../checks/check.ts';
import { tryIpv6 } from '../checks/machine-checks.ts';
import { realSystem, type System } from '../checks/system.ts';
import { retyped } from '../admin/operator.ts';
import type { CommandBody } from '../terminal/command.ts';
import { confirm } from '../terminal/confirm.ts';
import { EXIT, type ExitCode, ExitError, usageError } from '../terminal/exit.ts';
import { handOver, hasColor, type Io, writeLine } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';
import { readArguments, type SetupArguments, USUAL_FILE } from './arguments.ts';
import { setupChecks } from './checks.ts';
import { type ConfigState, differences, letServerRead, readIfThere, stateOf, writeConfig } from './config-file.ts';
import { configText, NO_EMAIL_OWNER } from './config-text.ts';
import { certificatePlace, ownerLink, untilCertificate, untilRunning } from './finish.ts';
import { keepForDownload } from './releases.ts';
import { requireVisible } from './hidden.ts';
import { type Host, realHost } from './host.ts';
import { ensureDataFolder, ensureUnit, ensureUser, startService } from './service.ts';
import { ensureSockets } from './sockets.ts';

export const setup: CommandBody = setupOn(realSystem(), realHost);

interface Work {
  readonly io: Io;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly wishes: SetupArguments;
  readonly host: Host;
  readonly system: System;
}

/** On this machine and network. */
export function setupOn(system: System, host: Host): CommandBody {
  return async (io, invocation) => {
    if (invocation.flags['local'] === true) return (await import('./local.ts')).setupLocal(io, invocation);
    const wishes = readArguments(invocation, io.cwd);
    const work: Work = { io, flags: invocation.flags, wishes, host, system };
    requireRights(work);
    return run(work);
  };
}

function requireRights({ wishes, host }: Work): void {
  if (host.isRoot || wishes.isDryRun || wishes.root !== '' || !wishes.isUsualFile) return;
  const what = `culvert setup writes ${USUAL_FILE} and starts the service`;
  throw usageError(`${what}: run it as root (sudo culvert setup …), or look with --dry-run`);
}

async function run(work: Work): Promise<ExitCode> {
  const { io, wishes, system, host } = work;
  const hasUnit = wishes.isUsualFile && (host.hasSystemd || wishes.root !== '');
  if (hasUnit) requireVisible(host, wishes);
  const text = configText({ ...wishes, ipv6: (await tryIpv6(system)) === undefined });
  const running = wishes.root === '' ? await runningServer(wishes) : undefined;
  const existing = readIfThere(wishes.root + wishes.file);
  const plan = { text, existing, state: stateOf(existing, text) };
  const checked = plan.state === 'edited' && existing !== undefined ? existing : text;
  const checks = await setupChecks(system, wishes, { text: checked, isRunning: running !== undefined, hasUnit });
  writeLine(io.stdout, checkLines(checks, hasColor(io.stdout, io.env)).join('\n'));
  const isBad = hasFailed(checks);
  if (isBad && !wishes.isDryRun) await confirm(io, work.flags, 'A check has failed. Go on all the same?');
  writeLine(io.stdout, '');
  if (wishes.isUsualFile && wishes.root === '' && !wishes.isDryRun)
    say(io, 'user', `culvert: ${await ensureUser(host, wishes.dataDir)}`);
  const config = await placeConfig(work, plan);
  if (wishes.isDryRun) {
    writeLine(io.stdout, 'No changes were made.');
    return isBad ? EXIT.failure : EXIT.ok;
  }
  const file = wishes.root + wishes.file;
  if (wishes.isUsualFile && letServerRead(file, host.serverUser(wishes.root)))
    say(io, 'settings', `${file}: the user culvert may read it now`);
  const placed = placeService(work, hasUnit);
  if (wishes.root !== '') return isBad ? EXIT.failure : EXIT.ok;
  const { settings } = loadServerConfig(wishes.file, io);
  if (hasUnit) {
    const hasChanged = config === 'written' || placed.hasNewUnit;
    say(io, 'service', await startService(host, { ...placed, isRunning: running !== undefined, hasChanged }));
  } else if (running !== undefined && config === 'written') {
    say(io, 'service', 'restart the server: it runs on the settings of before');
  }
  const ofDownload = { io, flags: work.flags, settings, file: wishes.file, path: host.program, program: buildInfo() };
  const kept = await keepForDownload(ofDownload);
  if (kept !== undefined) say(io, 'downloads', kept);
  const operator = hasUnit ? await untilRunning(io, settings.data_dir) : await findRunning(settings.data_dir);
  const isReady = operator === undefined ? sayStart(work, hasUnit) : await finish(work, settings, operator);
  return isBad || !isReady ? EXIT.failure : EXIT.ok;
}

async function runningServer({ dataDir }: SetupArguments): Promise<Operator | undefined> {
  try {
    return await findRunning(dataDir);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    throw usageError(`${dataDir} can't be read by this user: run the command as root (sudo culvert setup …)`, error);
  }
}

function say(io: Io, what: string, outcome: string): void {
  writeLine(io.stdout, harmless(`${what.padEnd(14)}${outcome}`));
}

interface ConfigPlan {
  /** What setup would write. */
  readonly text: string;
  readonly existing: string | undefined;
  readonly state: ConfigState;
}

/** Writes the settings, unless their owner has others. */
async function placeConfig(
  work: Work,
  { text, existing, state }: ConfigPlan,
): Promise<'written' | 'unchanged' | 'kept'> {
  const { io, wishes, host } = work;
  const path = wishes.root + wishes.file;
  if (state === 'same') {
    say(io, 'settings', `${path}: unchanged`);
    return 'unchanged';
  }
  if (state === 'edited') {
    say(io, 'settings', `${path} differs from what setup would write (- yours, + setup's):`);
    for (const line of differences(existing ?? '', text)) writeLine(io.stdout, harmless(`  ${line}`));
    if (!(await mayReplace(work))) {
      say(io, 'settings', `${path}: yours is kept`);
      return 'kept';
    }
  }
  if (wishes.isDryRun) {
    say(io, 'settings', `would write ${path}:`);
    for (const line of text.trimEnd().split('\n')) writeLine(io.stdout, harmless(`  ${line}`));
    return 'unchanged';
  }
  writeConfig(path, text, host.serverUser(wishes.root));
  say(io, 'settings', `${path}: written`);
  return 'written';
}

/** `--yes` is no word about settings that differ. */
async function mayReplace({ io, flags, wishes }: Work): Promise<boolean> {
  if (flags['yes'] === true || wishes.isDryRun) return false;
  try {
    await confirm(io, flags, `Replace ${wishes.file}?`);
    return true;
  } catch (error) {
    if (error instanceof ExitError && error.exitCode === EXIT.failure) return false;
    throw error;
  }
}

/** Data folder and units. */
function placeService({ io, wishes, host }: Work, hasUnit: boolean) {
  const none = { hasNewUnit: false, sockets: { held: [], idle: [] } };
  if (!wishes.isUsualFile) return none;
  say(io, 'data', `${wishes.root + wishes.dataDir}: ${ensureDataFolder(host, wishes.root, wishes.dataDir)}`);
  if (!hasUnit) return none;
  const unit = ensureUnit(host, wishes.root);
  say(io, 'unit', `culvert.service: ${unit}`);
  const file = wishes.root + wishes.file;
  const sockets = ensureSockets(wishes.root, checkServerConfig(readFileSync(file, 'utf8'), file).settings);
  say(io, 'sockets', `${sockets.held.join(', ')}: ${sockets.done}`);
  return { hasNewUnit: unit === 'written' || sockets.done === 'written', sockets };
}

/** No server answers. False where a unit should have started one. */
function sayStart({ io, wishes }: Work, hasUnit: boolean): boolean {
  if (hasUnit) {
    writeLine(
      io.stderr,
      'culvert: the server does not answer after a minute. Read its log: journalctl -u culvert -n 30',
    );
    return false;
  }
  const serve = `culvert serve --config ${wishes.file}`;
  writeLine(
    io.stdout,
    '\nThere is no systemd here. Start the server as the user culvert, by your service manager or by hand:',
  );
  writeLine(io.stdout, wishes.isUsualFile ? `  su -s /bin/sh culvert -c '${serve}'` : `  ${serve}`);
  writeLine(io.stdout, 'Then run the same culvert setup again: it prints the link that sets your password.');
  return true;
}

/** Waits for the certificate and hands over the link. False when there is no certificate. */
async function finish({ io, wishes, system }: Work, settings: Settings, operator: Operator): Promise<boolean> {
  const { public_url: apiUrl } = settings.api;
  const at = certificatePlace(settings);
  const host = new URL(apiUrl).hostname;
  const waited = at === undefined ? undefined : await untilCertificate(io, { system, at, host, operator });
  const isReady = waited === undefined || 'expiresAt' in waited;
  if (waited !== undefined) {
    const outcome =
      'expiresAt' in waited
        ? `${host}: valid until ${new Date(waited.expiresAt).toISOString().slice(0, 10)}`
        : `${host}: none yet (${waited.reason}). The server goes on trying; see culvert doctor`;
    say(io, 'certificate', outcome);
  }
  writeLine(io.stdout, `\nDashboard: ${apiUrl}/app/`);
  await handOverLink(io, { wishes, operator, owner: settings.accounts.owner ?? NO_EMAIL_OWNER });
  writeLine(
    io.stdout,
    `\nOn your laptop (install: ${apiUrl}/download/):\n  culvert login --server ${apiUrl}\n  culvert http 3000`,
  );
  return isReady;
}

interface Linking {
  readonly wishes: SetupArguments;
  readonly operator: Operator;
  readonly owner: string;
}

async function handOverLink(io: Io, { wishes, operator, owner }: Linking): Promise<void> {
  const again = retyped(`admin password-link ${owner}`, wishes.file);
  const found = await ownerLink(operator, owner);
  switch (found.kind) {
    case 'done':
      return writeLine(io.stdout, harmless(`${owner} has a password. For a link that sets another: ${again}`));
    case 'missing': {
      const create = retyped(`admin create-user ${owner} --superadmin`, wishes.file);
      return writeLine(io.stdout, harmless(`The server has no account ${owner}. Create it: ${create}`));
    }
    case 'link': {
      const text = `Set the password of ${harmless(owner)} (the link works once, until ${found.expiresAt}):\n  ${found.url}`;
      return handOver(io.stdout, text, harmless(`The link is lost. Create another: ${again}`));
    }
    default:
      return found satisfies never;
  }
}
