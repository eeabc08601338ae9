/** The keys with which the server signs, and their rotation. */
import { Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useApi } from '../../api/context.tsx';
import { useAsked } from '../../parts/dialogs/asked.ts';
import { Confirm } from '../../parts/dialogs/confirm.tsx';
import { useAction } from '../../parts/action.ts';
import { Panel } from '../../parts/panel.tsx';

type Purpose = 'access' | 'capability';

const PURPOSES: Readonly<Record<Purpose, { readonly title: string; readonly about: string; readonly old: string }>> = {
  access: {
    title: 'Logins',
    about: 'Signs the access tokens of browsers and CLIs. Rotates automatically every 90 days.',
    old: 'The old key still verifies for one day, so sessions continue.',
  },
  capability: {
    title: 'Access keys',
    about: 'Signs the binary form of access keys. Rotates only when you rotate it.',
    old: 'The old key still verifies for 366 days, so existing access keys work until they expire.',
  },
};

export function KeysPart() {
  const asked = useAsked<Purpose>();
  const [fresh, setFresh] = useState<Partial<Record<Purpose, string>>>({});
  return (
    <Stack>
      {(Object.keys(PURPOSES) as Purpose[]).map((purpose) => (
        <Panel
          key={purpose}
          title={PURPOSES[purpose].title}
          about={PURPOSES[purpose].about}
          actions={
            <Button
              variant="default"
              onClick={() => asked.ask(purpose)}
              aria-label={`Rotate the signing key: ${PURPOSES[purpose].title}`}
            >
              Rotate
            </Button>
          }
        >
          {fresh[purpose] !== undefined && (
            <Text size="sm" role="status">
              The new signing key is <span className="culvert-mono">{fresh[purpose]}</span>.
            </Text>
          )}
        </Panel>
      ))}
      <Text size="sm" c="dimmed">
        Rotation does not end existing sessions or keys. To end those of a user, lock the account. While the old key
        verifies, a stolen copy can still sign. Public keys: /.well-known/jwks.json.
      </Text>
      {asked.row !== undefined && (
        <RotateDialog
          purpose={asked.row}
          opened={asked.opened}
          onClose={asked.close}
          onRotated={(purpose, kid) => setFresh({ ...fresh, [purpose]: kid })}
        />
      )}
    </Stack>
  );
}

interface RotateDialogProps {
  readonly purpose: Purpose;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onRotated: (purpose: Purpose, kid: string) => void;
}

function RotateDialog({ purpose, opened, onClose, onRotated }: RotateDialogProps) {
  const { client } = useApi();
  const { title, old } = PURPOSES[purpose];
  const rotate = useAction({
    run: () => answered(client.POST('/superadmin/keys/{purpose}/rotate', { params: { path: { purpose } } })),
    onDone: ({ kid }) => {
      onRotated(purpose, kid);
      onClose();
    },
    tellsFailure: true,
  });
  return (
    <Confirm
      title={`Rotate the signing key: ${title}?`}
      action="Rotate"
      opened={opened}
      isBusy={rotate.isPending}
      error={rotate.error}
      onConfirm={() => rotate.mutate()}
      onClose={() => {
        rotate.reset();
        onClose();
      }}
    >
      Signing key rotated. {old}
    </Confirm>
  );
}
