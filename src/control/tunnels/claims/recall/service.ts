/** The command that brings a tunnel back, and the access key of its last agent. */
import type { TunnelRow } from '../../rows.ts';
import { isLive, tokenById } from '../../../access-keys/rows.ts';
import { type Actor, can } from '../../../core/rules/actor.ts';
import type { Store } from '../../../db/tx.ts';
import { findProjectById } from '../../../projects/rows.ts';
import { commandOf } from './rows.ts';
import { startWords } from './words.ts';

export interface StartCommand {
  /** Arguments of a process, `culvert` first; without `--server` and without the key. */
  readonly words: readonly string[];
  /** Of the last agent, without its secret. null: no agent has come, or the key's row is gone. */
  readonly key: {
    readonly name: string;
    readonly nonce: string;
    /** It is the login of a machine (`culvert login`), and no key to pass on. */
    readonly isLogin: boolean;
    /** The server still accepts it. */
    readonly isValid: boolean;
  } | null;
}

/** null: the actor may not publish tunnels, so it gets no command lines of other users. `row`: a tunnel of the actor's organization. */
export function startCommandOf(
  { db, clock }: Pick<Store, 'db' | 'clock'>,
  actor: Actor,
  row: TunnelRow,
): StartCommand | null {
  if (!can(actor, 'create', 'tunnel')) return null;
  const project = findProjectById(db, row.orgId, row.projectId);
  if (project === undefined) return null;
  const token = row.tokenId === null ? undefined : tokenById(db, row.tokenId);
  return {
    words: startWords(row, project, commandOf(db, row.id)),
    key:
      token === undefined
        ? null
        : {
            name: token.name,
            nonce: token.nonce,
            isLogin: token.kind === 'cli',
            isValid: isLive(db, token, clock.now()),
          },
  };
}
