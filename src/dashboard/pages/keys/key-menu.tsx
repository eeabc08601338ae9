/** What can be done to one key. */
import { Menu } from '@mantine/core';
import { IconCoin, IconCopy, IconRefresh, IconTrash } from '@tabler/icons-react';
import { useMay } from '../../api/context.tsx';
import type { Token } from '../../api/types.ts';
import { copyText } from '../../parts/clipboard.ts';
import { say, sayNews } from '../../parts/action.ts';
import { useMenuDialog } from '../../parts/menu-dialog.ts';
import { RowMenu } from '../../parts/row-menu.tsx';
import { nowSeconds } from './key-query.ts';
import { stateOf } from './key-state.ts';

/** Each opens the dialog about the key. */
export interface KeyActions {
  readonly onBudget: (token: Token) => void;
  readonly onRotate: (token: Token) => void;
  readonly onRevoke: (token: Token) => void;
}

interface KeyMenuProps extends KeyActions {
  readonly token: Token;
  /** With its ID where two have the same name. */
  readonly name: string;
}

export function KeyMenu({ token, name, onBudget, onRotate, onRevoke }: KeyMenuProps) {
  const [isMember, isAdmin] = [useMay('member'), useMay('admin')];
  const state = stateOf(token, nowSeconds());
  const isOver = state === 'revoked' || state === 'expired';
  const mayChange = !isOver && (token.kind === 'master' ? isAdmin : isMember);
  const copyId = async (): Promise<void> => {
    if (await copyText(token.nonce)) say('The ID is copied.');
    else sayNews(`The browser copies nothing here. The ID is ${token.nonce}`);
  };
  const { button, from } = useMenuDialog();
  return (
    <RowMenu button={button} label={`Actions for the key ${name}`}>
      <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => void copyId()}>
        Copy ID
      </Menu.Item>
      {mayChange && (
        <>
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
