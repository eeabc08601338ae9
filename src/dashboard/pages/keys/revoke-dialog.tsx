/** Asks before a key is revoked, and says what ends with it. */
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import type { Token } from '../../api/types.ts';
import type { Asked } from '../../parts/asked.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { nowSeconds, TOKENS } from './key-query.ts';
import { childrenOf, successorsIn } from './key-state.ts';
import { idOf, tellingName } from './key-labels.ts';

interface RevokeDialogProps {
  readonly asked: Asked<Token>;
  readonly all: readonly Token[];
}

export function RevokeDialog({ asked, all }: RevokeDialogProps) {
  const { client } = useApi();
  const { row: token, opened, close } = asked;
  const revoke = useAction({
    run: (nonce: string) => answered(client.DELETE('/tokens/{nonce}', { params: { path: { nonce } } })),
    done: ({ revoked }) => (revoked === 1 ? 'The key is revoked.' : `${revoked} keys are revoked.`),
    touches: [TOKENS, ['projects'], ['connections']],
    onDone: close,
    tellsFailure: true,
  });
  const children = token?.kind === 'master' ? childrenOf(token, all, nowSeconds()).length : 0;
  return (
    <Confirm
      title={`Revoke the key ${token === undefined ? '' : tellingName(token, all)}?`}
      action={children === 0 ? 'Revoke key' : `Revoke ${children + 1} keys`}
      opened={opened}
      isBusy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => token !== undefined && revoke.mutate(token.nonce)}
      onClose={() => {
        revoke.reset();
        close();
      }}
    >
      {token !== undefined && whichOne(token, all)}
      {token?.kind === 'master'
        ? whatEnds(children)
        : 'Agents that use it are cut off within a second, and their tunnels go offline.'}{' '}
      This can&apos;t be undone.
    </Confirm>
  );
}

/** Two keys of one name are easily taken for each other. */
function whichOne(token: Token, all: readonly Token[]): string {
  if (successorsIn(all).has(token.nonce)) return 'This is the new one: the key that it replaced ends by itself. ';
  const { replacedBy } = token;
  return replacedBy === null ? '' : `This is the old one, replaced by ${idOf({ nonce: replacedBy })}. `;
}

function whatEnds(children: number): string {
  if (children === 0) return 'It mints no key any more. None of those that it minted is live.';
  const keys = children === 1 ? 'The one live key that it minted ends' : `The ${children} live keys that it minted end`;
  return `${keys} with it: their agents are cut off within a second.`;
}
