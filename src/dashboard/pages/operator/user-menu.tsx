/** The actions of an operator on an account, each after a confirmation. */
import { Menu } from '@mantine/core';
import { useState } from 'react';
import { useAccount, useApi } from '../../api/context.tsx';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { RowMenu, useMenuDialog } from '../../parts/dialogs/row-menu.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { actionsFor, type User, USER_ACTIONS, type UserActionName } from './user-actions.ts';

export function UserMenu({ user }: { readonly user: User }) {
  const { user: me } = useAccount();
  const asked = useAsked<UserActionName>();
  const { button, from, back } = useMenuDialog();
  const offered = actionsFor(user, me.id);
  if (offered.length === 0 && asked.row === undefined) return null;
  return (
    <>
      <RowMenu button={button} label={`Actions for ${user.email}`}>
        {offered.map((name) => (
          <Menu.Item key={name} {...(name === 'lock' ? { color: 'red' } : {})} onClick={from(() => asked.ask(name))}>
            {USER_ACTIONS[name].title}
          </Menu.Item>
        ))}
      </RowMenu>
      {asked.row !== undefined && (
        <ActionDialog
          user={user}
          name={asked.row}
          opened={asked.opened}
          onClose={back(asked.close)}
          onKept={back(() => {})}
        />
      )}
    </>
  );
}

interface ActionDialogProps {
  readonly user: User;
  readonly name: UserActionName;
  readonly opened: boolean;
  readonly onClose: () => void;
  /** A password that was shown is kept. */
  readonly onKept: () => void;
}

function ActionDialog({ user, name, opened, onClose, onKept }: ActionDialogProps) {
  const { client } = useApi();
  const { user: me } = useAccount();
  const [password, setPassword] = useState<string>();
  const { title, question, words, run } = USER_ACTIONS[name];
  const action = useAction({
    run: () => run(client, user),
    done: (outcome) => ('said' in outcome ? outcome.said : `Password reset for ${user.email}.`),
    touches: [['superadmin'], ...(user.id === me.id ? [['me']] : [])],
    onDone: (outcome) => {
      onClose();
      if ('password' in outcome) setPassword(outcome.password);
    },
    tellsFailure: true,
  });
  return (
    <>
      <Confirm
        title={question(user)}
        action={title}
        opened={opened}
        isBusy={action.isPending}
        error={action.error}
        onConfirm={() => action.mutate()}
        onClose={() => {
          action.reset();
          onClose();
        }}
      >
        {words}
      </Confirm>
      {password !== undefined && (
        <PasswordDialog
          email={user.email}
          password={password}
          onClose={() => {
            setPassword(undefined);
            onKept();
          }}
        />
      )}
    </>
  );
}
