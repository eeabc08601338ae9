/**
 * What the page knows of the agent that it belongs to. The page listens before the agent connects, so that scripts find it at once; until
 * `attach` there is no session and no tunnel to tell of. Fed by cli/agent/run-agent.ts, read by the routes.
 */
import type { PipeMeter } from '../../base/bytes/pipe.ts';
import type { AgentEvent, AgentView } from '../events.ts';

/** What the page asks of an agent; agent.ts has it. */
export interface ShownAgent {
  view(): AgentView;
}

export class AgentSource {
  readonly version: string;
  /** Sessions that were welcomed. */
  sessions = 0;
  #agent: ShownAgent | undefined;
  #meter: PipeMeter = { fromSocket: 0, toSocket: 0 };

  constructor(version: string) {
    this.version = version;
  }

  attach(agent: ShownAgent, meter: PipeMeter): void {
    this.#agent = agent;
    this.#meter = meter;
  }

  onEvent(event: AgentEvent): void {
    if (event.kind === 'online') this.sessions++;
  }

  get view(): AgentView | undefined {
    return this.#agent?.view();
  }

  get isOnline(): boolean {
    return this.view?.state === 'online';
  }

  /** Bytes of all streams since the start. */
  get bytes(): PipeMeter {
    return this.#meter;
  }
}
