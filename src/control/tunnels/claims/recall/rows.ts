/** The command that each tunnel's last agent has sent: one row per live tunnel at most. */
import { eq, inArray } from 'drizzle-orm';
import { type AgentCommand, agentCommand } from '../../../../wire/agent-command.ts';
import { agentCommands } from '../../../db/schema.ts';
import type { Db, Tx } from '../../../db/tx.ts';

/** Keeps the command of the agent that serves the tunnel from now on; undefined: it has sent none. An agent that reconnects writes nothing. */
export function keepCommand(tx: Tx, tunnelId: string, command: AgentCommand | undefined): void {
  const before = textOf(tx.db, tunnelId);
  if (command === undefined) {
    if (before !== undefined) forgetCommands(tx, [tunnelId]);
    return;
  }
  const row = { command: JSON.stringify(command), updatedAt: tx.now };
  if (row.command === before) return;
  tx.db
    .insert(agentCommands)
    .values({ tunnelId, ...row })
    .onConflictDoUpdate({ target: agentCommands.tunnelId, set: row })
    .run();
}

/** Undefined: none, or one of a newer version of the server. */
export function commandOf(db: Db, tunnelId: string): AgentCommand | undefined {
  const text = textOf(db, tunnelId);
  return text === undefined ? undefined : agentCommand.safeParse(JSON.parse(text)).data;
}

export function forgetCommands(tx: Tx, tunnelIds: readonly string[]): void {
  tx.db
    .delete(agentCommands)
    .where(inArray(agentCommands.tunnelId, [...tunnelIds]))
    .run();
}

function textOf(db: Db, tunnelId: string): string | undefined {
  return db
    .select({ command: agentCommands.command })
    .from(agentCommands)
    .where(eq(agentCommands.tunnelId, tunnelId))
    .get()?.command;
}
