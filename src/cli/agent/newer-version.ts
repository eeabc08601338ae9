/** Logs once that the server runs a newer version than this agent. Nothing is upgraded unasked. */
import type { AgentEvent } from '../../agent/events.ts';
import type { Logger } from '../../base/log.ts';
import { compareVersions } from '../../base/release/versions.ts';

export class NewerVersion {
  readonly #version: string;
  readonly #log: Logger;
  #isLogged = false;

  constructor(version: string, log: Logger) {
    this.#version = version;
    this.#log = log;
  }

  onEvent(event: AgentEvent): void {
    if (event.kind !== 'online' || this.#isLogged) return;
    const { serverVersion } = event;
    const isNewer = (compareVersions(serverVersion, this.#version) ?? 0) > 0; // a version of another form is not compared
    if (!isNewer) return;
    this.#isLogged = true;
    this.#log.info({ version: this.#version, serverVersion }, 'the server is newer than this agent: culvert upgrade');
  }
}
