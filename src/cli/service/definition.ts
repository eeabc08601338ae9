/** What systemd, launchd and the Task Scheduler have in common: a definition in a file, and a few commands. service.ts has the steps. */
import { EXIT, ExitError } from '../terminal/exit.ts';
import type { ServiceHost } from './service-host.ts';

export type Scope = 'user' | 'system';

export interface ServiceWishes {
  /** `culvert-agent`, or `culvert-agent-NAME`. */
  readonly name: string;
  readonly scope: Scope;
  /** Absolute path of the agent's settings file; empty where only the name counts. */
  readonly config: string;
}

export interface ServiceDefinition {
  /** `systemd user unit`: what it is, for one line of output. */
  readonly kind: string;
  readonly file: string;
  /** The whole definition. It begins with, or holds, a mark by which it is known to be ours. */
  readonly text: string;
  /** How its log is read. */
  readonly log: string;
  /** What its user should know besides. */
  readonly hints: readonly string[];
  readonly encoding: 'utf8' | 'utf16le';
  /** Starts it now and at each boot or login. @throws ExitError with what the manager said. */
  start(): Promise<void>;
  /** Ends and forgets it; its file is still there. @throws ExitError */
  stop(): Promise<void>;
  isRunning(): Promise<boolean>;
  /** Its file is gone. */
  forget(): Promise<void>;
}

/** In each definition. */
export const MARK = 'Written by culvert service install';

/** Runs a command of the definition. @throws ExitError when it fails. */
export async function must(host: ServiceHost, command: string, args: readonly string[]): Promise<string> {
  const { code, output } = await host.run(command, args);
  if (code === 0) return output;
  throw new ExitError(
    EXIT.failure,
    `${command} ${args.join(' ')} failed: ${output === '' ? `exit code ${code}` : output}`,
  );
}
