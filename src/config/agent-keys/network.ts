/**
 * `proxy` and `ca_file` of an agent's settings: which proxy leads out of this machine's network, and which authority is trusted besides. Called by
 * agent.ts.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { codeOf, messageOf } from '../../base/errors.ts';
import { parseProxy, PROXY_FORM } from '../../base/net/outbound/proxy.ts';
import type { NamedProxy } from '../../base/net/outbound/proxy-rules.ts';
import { ConfigError, mistakeAt, type TomlFile } from '../toml.ts';

/** The two keys. */
export const networkKeys = {
  /** `http://proxy:3128`, `socks5h://proxy:1080`; empty: none, whatever the environment says. */
  proxy: z.string().optional(),
  /** PEM. Trusted beside the authorities that are known already. */
  ca_file: z.string().min(1, 'must be a file name').optional(),
};

export interface NetworkSettings {
  /** Undefined: what the environment says. */
  readonly proxy: NamedProxy | undefined;
  /** PEM text. */
  readonly ca: string | undefined;
}

export interface NetworkFlags {
  readonly proxy?: string | undefined;
  readonly caFile?: string | undefined;
}

interface ReadFile {
  readonly path: string;
  readonly parsed: TomlFile<{ readonly proxy?: string | undefined; readonly ca_file?: string | undefined }>;
}

interface From {
  readonly flags: NetworkFlags;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** ./culvert.toml, whose author may be anyone. */
  readonly project: ReadFile | undefined;
  readonly user: ReadFile | undefined;
}

/** @throws ConfigError for a value that can't be used. */
export function networkOf(from: From): NetworkSettings {
  return { proxy: proxyOf(from), ca: caOf(from) };
}

function proxyOf({ flags, project, user }: From): NamedProxy | undefined {
  if (flags.proxy !== undefined) {
    const given = { text: flags.proxy, namedBy: '--proxy' };
    const found = parsed(given, (text) => new ConfigError(`--proxy: ${text}`));
    if (found?.password !== '') throw new ConfigError(`--proxy: ${PASSWORD_IN_ARGV}`);
    return given;
  }
  refuseProject(project, 'proxy');
  const text = user?.parsed.value.proxy;
  if (user === undefined || text === undefined) return undefined;
  const named = { text, namedBy: `proxy in ${user.path}` };
  parsed(named, (mistake) => mistakeAt(user.path, user.parsed.lines, { path: ['proxy'], text: mistake }));
  return named;
}

const PASSWORD_IN_ARGV =
  'a password on the command line is rejected: other users of this machine can read it there. Set HTTPS_PROXY, or proxy = "…" in ~/.config/culvert/agent.toml';

function parsed({ text, namedBy }: NamedProxy, mistake: (text: string) => ConfigError): { password: string } {
  if (text.trim() === '') return { password: '' };
  const found = parseProxy(text, namedBy);
  if (found === undefined) throw mistake(PROXY_FORM);
  return { password: found.password.reveal() };
}

function caOf({ flags, env, cwd, project, user }: From): string | undefined {
  if (flags.caFile !== undefined) {
    return certificates(resolve(cwd, flags.caFile), (text) => new ConfigError(`--ca-file: ${flags.caFile}: ${text}`));
  }
  refuseProject(project, 'ca_file');
  const text = user?.parsed.value.ca_file;
  if (user === undefined || text === undefined) return undefined;
  const home = env['HOME'] || homedir();
  const path = text.startsWith('~/') ? join(home, text.slice(2)) : resolve(dirname(user.path), text);
  return certificates(path, (mistake) => mistakeAt(user.path, user.parsed.lines, { path: ['ca_file'], text: mistake }));
}

/** A project that names an authority of its own, and a way through its own machine, could read the key of its user. */
function refuseProject(project: ReadFile | undefined, key: 'proxy' | 'ca_file'): void {
  if (project?.parsed.value[key] === undefined) return;
  const flag = key === 'proxy' ? '--proxy' : '--ca-file';
  const text = `is not taken from a project file. Use ${flag}, ~/.config/culvert/agent.toml, or name this file with --config`;
  throw mistakeAt(project.path, project.parsed.lines, { path: [key], text });
}

function certificates(path: string, mistake: (text: string) => ConfigError): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw mistake(codeOf(cause) === 'ENOENT' ? 'there is no such file' : `cannot be read: ${messageOf(cause)}`);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw mistake('has no certificate in PEM form');
  return text;
}
