/** The table of keys, with the menu of each and the dialog to revoke one. Also on the page of a project. */
import { Menu } from '@mantine/core';
import { IconAdjustments, IconCoin, IconCopy, IconRefresh, IconTrash } from '@tabler/icons-react';
import { answered } from '../../api/client.ts';
import { useApi, useMay } from '../../api/context.tsx';
import type { Token } from '../../api/types.ts';
import { say, sayNews, useAction } from '../../parts/action.ts';
import { type Asked, useAsked } from '../../parts/dialogs/asked.ts';
import { useOpened } from '../../parts/dialogs/opened.ts';
import { copyText } from '../../parts/copy.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { BudgetDialog } from './budget-dialog.tsx';
import { EndCell, NameCell, ScopeCell, SpendCell, UseCell } from './key-cells.tsx';
import { KeyDrawer } from './key-drawer.tsx';
import { childrenOf, idOf, stateOf, successorsIn, tellingName } from './key-state.ts';
import { nowSeconds, TOKENS } from './key-query.ts';
import { LimitsDialog } from './limits-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';

interface KeyTableProps {
  readonly label: string;
  readonly tokens: readonly Token[];
  /** All keys of the organization, for the names of master keys. */
  readonly all: readonly Token[];
}

export function KeyTable({ label, tokens, all }: KeyTableProps) {
  const [budget, rotation, revocation] = [useAsked<Token>(), useAsked<Token>(), useAsked<Token>()];
  const limits = useAsked<Token>();
  const detail = useOpened('key');
  const columns = columnsOf(all, {
    onOpen: ({ nonce }) => detail.open(nonce),
    onBudget: budget.ask,
    onLimits: limits.ask,
    onRotate: rotation.ask,
    onRevoke: revocation.ask,
  });
  return (
    <>
      <Table label={label} rows={tokens} rowKey={({ nonce }) => nonce} columns={columns} />
      <KeyDrawer opened={detail} />
      <LimitsDialog asked={limits} />
      <BudgetDialog asked={budget} />
      <RotateDialog asked={rotation} />
      <RevokeDialog asked={revocation} all={all} />
    </>
  );
}

function columnsOf(
  all: readonly Token[],
  { onOpen, ...actions }: KeyActions & { readonly onOpen: (token: Token) => void },
): ReadonlyArray<Column<Token>> {
  const fresh = successorsIn(all);
  const names = new Map(all.map(({ nonce, name }) => [nonce, name]));
  return [
    {
      key: 'name',
      title: 'Key',
      cell: (token) => (
        <NameCell
          token={token}
          parent={token.parentNonce === null ? undefined : names.get(token.parentNonce)}
          isNew={fresh.has(token.nonce)}
          onOpen={onOpen}
        />
      ),
    },
    { key: 'scope', title: 'Scope', cell: (token) => <ScopeCell token={token} /> },
    { key: 'spend', title: 'Spent this month', cell: (token) => <SpendCell token={token} /> },
    { key: 'end', title: 'Expires', cell: (token) => <EndCell token={token} /> },
    { key: 'used', title: 'Last used', cell: (token) => <UseCell token={token} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (token) => <KeyMenu token={token} name={tellingName(token, all)} {...actions} />,
    },
  ];
}

/** Each opens the dialog about the key. */
interface KeyActions {
  readonly onBudget: (token: Token) => void;
  readonly onLimits: (token: Token) => void;
  readonly onRotate: (token: Token) => void;
  readonly onRevoke: (token: Token) => void;
}

interface KeyMenuProps extends KeyActions {
  readonly token: Token;
  /** With its ID where two have the same name. */
  readonly name: string;
}

function KeyMenu({ token, name, onBudget, onLimits, onRotate, onRevoke }: KeyMenuProps) {
  const [isMember, isAdmin] = [useMay('member'), useMay('admin')];
  const state = stateOf(token, nowSeconds());
  const isOver = state === 'revoked' || state === 'expired';
  const mayChange = !isOver && (token.kind === 'master' ? isAdmin : isMember);
  const copyId = async (): Promise<void> => {
    if (await copyText(token.nonce)) say('ID copied.');
    else sayNews(`The browser blocked copying. The ID is ${token.nonce}`);
  };
  const { button, from } = useMenuDialog();
  return (
    <RowMenu button={button} label={`Actions for the key ${name}`}>
      <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => void copyId()}>
        Copy ID
      </Menu.Item>
      {mayChange && (
        <>
          <Menu.Item leftSection={<IconAdjustments size={16} />} onClick={from(() => onLimits(token))}>
            {token.kind === 'master' ? 'Rename' : 'Edit limits'}
          </Menu.Item>
          <Menu.Item leftSection={<IconCoin size={16} />} onClick={from(() => onBudget(token))}>
            Set budget
          </Menu.Item>
          {state !== 'replaced' && (
            <Menu.Item leftSection={<IconRefresh size={16} />} onClick={from(() => onRotate(token))}>
              Rotate
            </Menu.Item>
          )}
          <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={from(() => onRevoke(token))}>
            Revoke
          </Menu.Item>
        </>
      )}
    </RowMenu>
  );
}

interface RevokeDialogProps {
  readonly asked: Asked<Token>;
  readonly all: readonly Token[];
}

/** Asks before a key is revoked, and says what ends with it. */
function RevokeDialog({ asked, all }: RevokeDialogProps) {
  const { client } = useApi();
  const { row: token, opened, close } = asked;
  const revoke = useAction({
    run: (nonce: string) => answered(client.DELETE('/tokens/{nonce}', { params: { path: { nonce } } })),
    done: ({ revoked }) => (revoked === 1 ? 'Key revoked.' : `${revoked} keys revoked.`),
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
        : 'Its agents are disconnected within a second, and their tunnels go offline.'}{' '}
      You can&apos;t undo this.
    </Confirm>
  );
}

/** Two keys of one name are easily taken for each other. */
function whichOne(token: Token, all: readonly Token[]): string {
  if (successorsIn(all).has(token.nonce))
    return 'This is the new key. The key that it replaced expires automatically. ';
  const { replacedBy } = token;
  return replacedBy === null ? '' : `This is the old key, replaced by ${idOf({ nonce: replacedBy })}. `;
}

function whatEnds(children: number): string {
  if (children === 0) return 'It can no longer create keys. None of the keys that it created are live.';
  const keys =
    children === 1 ? 'The live key that it created expires' : `The ${children} live keys that it created expire`;
  return `${keys} with it, and their agents are disconnected within a second.`;
}
