/** The members page: members with roles, invitations, and the dialog to invite. */
import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useMailOff } from '../../api/auth-options.ts';
import { answered } from '../../api/client.ts';
import { useAccount, useApi, useMay } from '../../api/context.tsx';
import type { Role } from '../../api/types.ts';
import { useAction } from '../../parts/action.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { OneTimeSecret, OneTimeSecretModal } from '../../parts/dialogs/one-time-secret.tsx';
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

/** Invites a member by email, or by a link where the server sends none. */
function InviteDialog({ opened, onClose }: InviteDialogProps) {
  const { active_org: org } = useAccount();
  const [link, setLink] = useState<string>();
  return (
    <OneTimeSecretModal
      opened={opened}
      onClose={onClose}
      onGone={() => setLink(undefined)}
      title={`Invite member to ${org.name}`}
    >
      {link === undefined ? (
        <InviteForm onClose={onClose} onLink={setLink} />
      ) : (
        <OneTimeSecret label="Invitation link">
          <Text size="sm">
            Mail is off on this server: no email was sent. Send this link yourself. It works once, for 7 days, only for
            the account with this address.
          </Text>
          <CopyLine value={link} what="the link" />
        </OneTimeSecret>
      )}
    </OneTimeSecretModal>
  );
}

interface Invited {
  readonly email: string;
  readonly role: Role;
}

interface InviteFormProps {
  readonly onClose: () => void;
  readonly onLink: (link: string) => void;
}

function InviteForm({ onClose, onLink }: InviteFormProps) {
  const { client } = useApi();
  const isMailOff = useMailOff();
  const { active_org: org } = useAccount();
  const [rest, setRest] = useState<string>();
  const form = useForm<Invited>({ initialValues: { email: '', role: 'member' } });
  const invite = useAction({
    run: (body: Invited) => answered(client.POST('/orgs/{id}/invitations', { params: { path: { id: org.id } }, body })),
    done: ({ email }) => `${email} invited.`,
    touches: [['orgs', org.id, 'invitations']],
    onDone: ({ accept_url: link }) => (link === undefined ? onClose() : onLink(link)),
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
          {isMailOff
            ? 'Mail is off on this server. You get a link to send yourself: it works once, for 7 days, only for this address.'
            : 'Sends an email with a link that works once, for 7 days, only for this address. If no email arrives, “Resend” in the list of invitations shows you the link.'}
        </Text>
        <FormEnd
          action={isMailOff ? 'Create invitation' : 'Send invitation'}
          refused={rest}
          isBusy={invite.isPending}
          onClose={onClose}
        />
      </Stack>
    </form>
  );
}
