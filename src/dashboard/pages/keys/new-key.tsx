/** The dialog that makes a key: first what it may do, then the key itself, once. */
import { useState } from 'react';
import type { MintedToken } from '../../api/types.ts';
import { OneTimeSecretModal } from '../../parts/one-time-secret.tsx';
import { MintedKey } from './minted-key.tsx';
import { NewKeyForm } from './new-key-form.tsx';

interface NewKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Slug: the key is made for this project, and no other kind is offered. */
  readonly project?: string;
}

export function NewKey({ opened, onClose, project }: NewKeyProps) {
  return (
    <OneTimeSecretModal opened={opened} onClose={onClose} title="New key" size="lg">
      <Steps project={project} onClose={onClose} />
    </OneTimeSecretModal>
  );
}

/** What it holds is gone with the dialog. */
function Steps({ project, onClose }: Omit<NewKeyProps, 'opened' | 'project'> & { project: string | undefined }) {
  const [minted, setMinted] = useState<MintedToken>();
  if (minted !== undefined) return <MintedKey token={minted} />;
  return <NewKeyForm project={project} onMinted={setMinted} onClose={onClose} />;
}
