/** The members page: members with roles, invitations, and the dialog to invite. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import type { Role } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { FormEnd } from '../../parts/forms/form-end.tsx';
import { showFaults } from '../../parts/forms/form-failure.ts';
import { Page } from '../../parts/page.tsx';
import { InvitationsPanel } from './invitations-panel.tsx';
import { MembersList } from './members-list.tsx';
import { RoleChoice } from './role-dialog.tsx';
import { NOT_APPROVED, roleOf, rolesUpTo } from './roles.ts';

export function MembersPage() {
  const { active_org: org } = useAccount();
  const mayInvite = useMay('admin');
  const [inviting, { open, close }] = useDisclosure(false);
  const isApproved = org.approval_status === 'approved';
  return (
    <Page
      title="Members"
      about={`Members of ${org.name} and their roles.${mayInvite ? '' : ' Admins and owners invite members and change roles.'}`}
      actions={
        mayInvite && (
          <Button
            leftSection={<IconUserPlus size={16} />}
            onClick={open}
            disabled={!isApproved}
            title={isApproved ? undefined : NOT_APPROVED}
          >
            Invite member
          </Button>
        )
      }
    >
      <MembersList />
      <InvitationsPanel />
      <InviteDialog opened={inviting} onClose={close} />
    </Page>
  );
}

interface InviteDialogProps {
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Invites a member by email. */
function InviteDialog({ opened, onClose }: InviteDialogProps) {
  const { active_org: org } = useAccount();
  return (
    <Modal opened={opened} onClose={onClose} title={`Invite member to ${org.name}`}>
      <InviteForm onClose={onClose} />
    </Modal>
  );
}

interface Invited {
  readonly email: string;
  readonly role: Role;
}

function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApi();
  const { active_org: org } = useAccount();
  const [rest, setRest] = useState<string>();
  const form = useForm<Invited>({ initialValues: { email: '', role: 'member' } });
  const invite = useAction({
    run: (body: Invited) => answered(client.POST('/orgs/{id}/invitations', { params: { path: { id: org.id } }, body })),
    done: ({ email }) => `${email} invited.`,
    touches: [['orgs', org.id, 'invitations']],
    onDone: onClose,
    tellsFailure: true,
  });
  const send = (values: Invited): void => {
    setRest(undefined);
    invite.mutate(values, { onError: (error) => setRest(showFaults(form, error)) });
  };
  return (
    <form onSubmit={form.onSubmit(send)} noValidate>
      <Stack>
        <TextInput
          label="Email address"
          type="email"
          autoComplete="off"
          data-autofocus
          required
          {...form.getInputProps('email')}
        />
        <RoleChoice
          roles={rolesUpTo(roleOf(org.role))}
          value={form.values.role}
          onChange={(role) => form.setFieldValue('role', role)}
          error={typeof form.errors['role'] === 'string' ? form.errors['role'] : undefined}
        />
        <Text size="sm" c="dimmed">
          Sends an email with a link that works once, for 7 days, only for this address. If no email arrives, “Resend”
          in the list of invitations shows you the link.
        </Text>
        <FormEnd action="Send invitation" refused={rest} isBusy={invite.isPending} onClose={onClose} />
      </Stack>
    </form>
  );
}
