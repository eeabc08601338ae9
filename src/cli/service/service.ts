/**
 * `culvert service install|status|uninstall`: an agent's settings file as a service of this machine. What it writes is a definition for systemd,
 * launchd or the Task Scheduler that starts `culvert start`; no key is in it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { type AgentSettings, loadAgentConfig } from '../../config/agent.ts';
import { serverName } from '../../config/credentials.ts';
import { ConfigError } from '../../config/toml.ts';
import { specsOf } from '../agent/tunnel.ts';
import { readAgentKey } from '../client/token.ts';
import type { CommandBody, Invocation } from '../terminal/command.ts';
import { EXIT, ExitError, usageError } from '../terminal/exit.ts';
import { textFlag } from '../terminal/flags.ts';
import { type Io, print, writeLine } from '../terminal/io.ts';
import { jsonText } from '../terminal/paint.ts';
import { launchd } from './launchd.ts';
import { MARK, type ServiceDefinition, type Scope, type ServiceWishes } from './definition.ts';
import { realServiceHost, type ServiceHost } from './service-host.ts';
import { systemd } from './systemd.ts';
import { taskScheduler } from './task-scheduler.ts';

type HostOf = (env: NodeJS.ProcessEnv) => ServiceHost;

export const serviceInstall: CommandBody = installOn(realServiceHost);
export const serviceStatus: CommandBody = statusOn(realServiceHost);
export const serviceUninstall: CommandBody = uninstallOn(realServiceHost);

export function installOn(hostOf: HostOf): CommandBody {
  return async (io, invocation) => {
    const host = hostOf(io.env);
    const config = configFile(io, invocation, host);
    const settings = await checked(io, host, config);
    const wishes = wishesOf(invocation, host, config);
    requireRights(wishes, host);
    const definition = definitionOf(host, wishes);
    const before = read(definition);
    const written = write(definition);
    const wasRunning = await definition.isRunning();
    if (written || !wasRunning) await startOrUndo(definition, before);
    const what = written ? 'written' : 'unchanged';
    const state = !written && wasRunning ? 'running already' : wasRunning ? 'restarted' : 'started';
    const count = settings.tunnels.size;
    const lines = [
      `settings  ${config}: ${count} ${count === 1 ? 'tunnel' : 'tunnels'} at ${serverName(settings.server)}`,
      `service   ${definition.file}: ${what} (${definition.kind})`,
      `agent     ${wishes.name}: ${state}, as ${host.user}`,
      `log       ${definition.log}`,
      ...definition.hints,
    ];
    await print(io.stdout, lines.join('\n'));
    for (const warning of leftBehind(io, settings)) writeLine(io.stderr, `culvert: ${warning}`);
    return EXIT.ok;
  };
}

/** A start that fails leaves the machine as it was: `before` is the definition that was there. @throws ExitError of the start */
async function startOrUndo(definition: ServiceDefinition, before: string | undefined): Promise<void> {
  try {
    await definition.start();
  } catch (error) {
    if (before !== undefined) writeText(definition, before);
    else {
      // It may have been enabled already. Where the manager can't be reached, it was not: the error of the start says so.
      await faultOf(() => definition.stop());
      rmSync(definition.file, { force: true });
    }
    await faultOf(() => definition.forget());
    throw error;
  }
}

/** What the service manager says to a step that may fail; undefined: it was done. */
async function faultOf(step: () => Promise<void>): Promise<string | undefined> {
  try {
    await step();
    return undefined;
  } catch (error) {
    if (error instanceof ExitError) return messageOf(error);
    throw error;
  }
}

export function statusOn(hostOf: HostOf): CommandBody {
  return async (io, invocation) => {
    const host = hostOf(io.env);
    const wishes = wishesOf(invocation, host, '');
    const definition = definitionOf(host, wishes);
    const isInstalled = isOurs(definition);
    const isRunning = isInstalled && (await definition.isRunning());
    const { file, log } = definition;
    const fields = { name: wishes.name, scope: wishes.scope, installed: isInstalled, running: isRunning, file, log };
    const text = isInstalled
      ? `agent     ${wishes.name}: ${isRunning ? 'running' : 'not running'}\nservice   ${file}\nlog       ${log}`
      : `${wishes.name} is not installed (${definition.kind}). Install it: culvert service install --${wishes.scope}`;
    await print(io.stdout, invocation.flags['json'] === true ? jsonText(fields) : text);
    return isRunning ? EXIT.ok : EXIT.failure;
  };
}

export function uninstallOn(hostOf: HostOf): CommandBody {
  return async (io, invocation) => {
    const host = hostOf(io.env);
    const wishes = wishesOf(invocation, host, '');
    requireRights(wishes, host);
    const definition = definitionOf(host, wishes);
    if (!isOurs(definition)) {
      await print(io.stdout, `${wishes.name} is not installed (${definition.kind}). Nothing was removed.`);
      return EXIT.ok;
    }
    const fault = await faultOf(() => definition.stop());
    rmSync(definition.file);
    if (fault !== undefined) {
      const text = `${definition.file}: removed. But the service was not stopped, and may still run: ${fault}`;
      throw new ExitError(EXIT.failure, text);
    }
    await definition.forget();
    await print(io.stdout, `${wishes.name}: stopped\n${definition.file}: removed. Settings, key and log stay.`);
    return EXIT.ok;
  };
}

/** `--config`, else what `culvert start` would read here. @throws ExitError (usage) when there is none, or none that may be used. */
function configFile(io: Io, { flags }: Invocation, { home }: ServiceHost): string {
  const named = textFlag(flags, 'config') ?? (io.env['CULVERT_AGENT_CONFIG'] || undefined);
  const found = named === undefined ? fileHere(io, home) : resolve(io.cwd, named);
  if (found === undefined) {
    const places = [join(io.cwd, 'culvert.toml'), join(home, '.config/culvert/agent.toml')];
    throw usageError(`no settings file: there is no ${places.join(' and no ')}. Name it with --config`);
  }
  // It would begin a line of its own in a definition.
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(found))
    throw usageError('--config: its path has a control character. Rename its folder');
  return found;
}

/**
 * By the rules of `culvert start`: the author of ./culvert.toml may be anyone, and it sends no key of elsewhere to a server of its own. The service
 * names its file with --config, for which they do not hold.
 */
function fileHere(io: Io, home: string): string | undefined {
  try {
    return loadAgentConfig({ flags: {}, env: { HOME: home }, cwd: io.cwd }).files[0];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw usageError(`${error.message}. If you trust the file, name it with --config`, error);
  }
}

/** What the service will read and do, by the means that it will have: no variable of this shell. @throws ConfigError, ExitError */
async function checked(io: Io, host: ServiceHost, config: string): Promise<AgentSettings> {
  const env = { HOME: host.home };
  const settings = loadAgentConfig({ flags: { config }, env, cwd: dirname(config) });
  specsOf(settings, []);
  try {
    await readAgentKey(settings, env);
  } catch (error) {
    if (!(error instanceof ExitError)) throw error;
    const isHere = io.env['CULVERT_TOKEN'] || io.env['CULVERT_TOKEN_FILE'];
    const why = isHere
      ? '. CULVERT_TOKEN of this shell does not reach a service: use token_file in the settings file'
      : '';
    throw new ExitError(error.exitCode, messageOf(error) + why, { cause: error });
  }
  return settings;
}

function wishesOf({ flags }: Invocation, host: ServiceHost, config: string): ServiceWishes {
  if (flags['system'] === true && flags['user'] === true) throw usageError('--system and --user exclude each other');
  const isSystem = flags['system'] === true || (flags['user'] !== true && host.isRoot);
  const scope: Scope = isSystem ? 'system' : 'user';
  const name = textFlag(flags, 'name');
  if (name !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/.test(name)) {
    throw usageError('--name: has 1 to 41 letters, digits, "_" or "-"');
  }
  return { name: name === undefined ? 'culvert-agent' : `culvert-agent-${name}`, scope, config };
}

function requireRights({ scope }: ServiceWishes, host: ServiceHost): void {
  if (host.platform === 'win32') return; // schtasks says it itself
  if (scope === 'system' && !host.isRoot) throw usageError('--system: run it as root (sudo culvert service …)');
  if (scope === 'user' && host.isRoot && host.uid !== 0) {
    throw usageError('--user: run it without sudo, as the user of the service');
  }
}

function definitionOf(host: ServiceHost, wishes: ServiceWishes): ServiceDefinition {
  switch (host.platform) {
    case 'darwin':
      return launchd(host, wishes);
    case 'win32':
      return taskScheduler(host, wishes);
    default:
      return systemd(host, wishes);
  }
}

/** Whether it wrote. @throws ExitError when another's definition has the name. */
function write(definition: ServiceDefinition): boolean {
  const { file, text } = definition;
  const existing = read(definition);
  if (existing === text) return false;
  if (existing !== undefined && !existing.includes(MARK)) {
    throw new ExitError(EXIT.failure, `${file} is not of culvert service install. Choose another --name`);
  }
  mkdirSync(dirname(file), { recursive: true });
  writeText(definition, text);
  return true;
}

function writeText({ file, encoding }: ServiceDefinition, text: string): void {
  writeFileSync(file, (encoding === 'utf16le' ? BYTE_ORDER_MARK : '') + text, { encoding, mode: 0o644 });
}

const BYTE_ORDER_MARK = '\ufeff';

function read({ file, encoding }: ServiceDefinition): string | undefined {
  return existsSync(file) ? readFileSync(file, encoding).replace(BYTE_ORDER_MARK, '') : undefined;
}

function isOurs(definition: ServiceDefinition): boolean {
  return read(definition)?.includes(MARK) === true;
}

const PROXY_VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];

/** What works in this shell and is not there for the service. */
function leftBehind({ env }: Io, { network }: AgentSettings): string[] {
  const proxy = PROXY_VARIABLES.find((name) => env[name]);
  if (proxy === undefined || network.proxy !== undefined) return [];
  return [
    `${proxy} of this shell does not reach the service. If it needs the proxy, add proxy = "…" to its settings file`,
  ];
}
