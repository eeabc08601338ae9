/** Keys in a table, with what can be done to each. On the page of keys, and on that of a project. */
import type { Token } from '../../api/types.ts';
import { Ago } from '../../parts/ago.tsx';
import { useAsked } from '../../parts/asked.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { BudgetDialog } from './budget-dialog.tsx';
import { EndCell, NameCell, ScopeCell, SpendCell } from './key-cells.tsx';
import { successorsIn } from './key-state.ts';
import { tellingName } from './key-labels.ts';
import { type KeyActions, KeyMenu } from './key-menu.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';

interface KeyTableProps {
  readonly label: string;
  readonly tokens: readonly Token[];
  /** All keys of the organization, for the names of master keys. */
  readonly all: readonly Token[];
}

export function KeyTable({ label, tokens, all }: KeyTableProps) {
  const [budget, rotation, revocation] = [useAsked<Token>(), useAsked<Token>(), useAsked<Token>()];
  const columns = columnsOf(all, { onBudget: budget.ask, onRotate: rotation.ask, onRevoke: revocation.ask });
  return (
    <>
      <Table label={label} rows={tokens} rowKey={({ nonce }) => nonce} columns={columns} />
      <BudgetDialog asked={budget} />
      <RotateDialog asked={rotation} />
      <RevokeDialog asked={revocation} all={all} />
    </>
  );
}

function columnsOf(all: readonly Token[], actions: KeyActions): ReadonlyArray<Column<Token>> {
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
        />
      ),
    },
    { key: 'scope', title: 'May do', cell: (token) => <ScopeCell token={token} /> },
    { key: 'spend', title: 'Spent this month', cell: (token) => <SpendCell token={token} /> },
    { key: 'end', title: 'Ends', cell: (token) => <EndCell token={token} /> },
    { key: 'used', title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
    {
      key: 'actions',
      title: 'Actions',
      hidden: true,
      align: 'right',
      cell: (token) => <KeyMenu token={token} name={tellingName(token, all)} {...actions} />,
    },
  ];
}
