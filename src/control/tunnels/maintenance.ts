/**
 * Which tunnels are in maintenance, and the message to their visitors. In memory alone: it is over when the agent leaves, and when the server
 * starts again, for a forgotten switch must not block visitors.
 */

export class Maintenance {
  /** Tunnel id to message. As many as there are tunnels: what is deleted leaves. */
  readonly #messages = new Map<string, string>();

  /** `''`: the edge's own words. null: not in maintenance. */
  messageOf(tunnelId: string): string | null {
    return this.#messages.get(tunnelId) ?? null;
  }

  begin(tunnelId: string, message: string): void {
    this.#messages.set(tunnelId, message);
  }

  /** False when there was none. */
  end(tunnelId: string): boolean {
    return this.#messages.delete(tunnelId);
  }
}
