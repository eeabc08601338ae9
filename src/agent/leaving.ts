/** Sessions that the server wants gone: they finish what is in flight, bounded by DRAIN_MS, while the next one serves. Owned by agent.ts. */
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { DRAIN_MS } from '../wire/messages.ts';
import type { Cancel, Schedule } from './schedule.ts';
import type { Session } from './session.ts';

export class LeavingSessions {
  readonly #schedule: Schedule;
  readonly #log: Logger;
  readonly #sessions = new Map<Session, Cancel>();

  constructor(schedule: Schedule, log: Logger) {
    this.#schedule = schedule;
    this.#log = log;
  }

  /** Streams of all of them. */
  get inFlight(): number {
    let sum = 0;
    for (const session of this.#sessions.keys()) sum += session.inFlight;
    return sum;
  }

  /** Takes no new streams of it any more; one without streams is closed at once. */
  add(session: Session): void {
    session.channel?.refuseStreams();
    if (session.inFlight === 0) return this.#close(session);
    const cut = (): void => {
      this.#sessions.delete(session);
      session.destroy();
    };
    this.#sessions.set(session, this.#schedule.after(DRAIN_MS, cut));
  }

  /** It ended by itself. False: it was none of these. */
  forget(session: Session): boolean {
    this.#sessions.get(session)?.();
    return this.#sessions.delete(session);
  }

  /** Its last stream has ended. */
  idle(session: Session): void {
    if (this.forget(session)) this.#close(session);
  }

  destroy(): void {
    for (const [session, cancel] of this.#sessions) {
      cancel();
      session.destroy();
    }
    this.#sessions.clear();
  }

  #close(session: Session): void {
    session.close().catch((error: unknown) => this.#log.debug({ cause: messageOf(error) }, 'closing a session failed'));
  }
}
