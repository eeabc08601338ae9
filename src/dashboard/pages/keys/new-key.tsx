/** The dialog that makes a key: first what it may do, then the key itself, once. */
import { Modal } from '@mantine/core';
import { useState } from 'react';
import type { MintedToken } from '../../api/types.ts';
import { MintedKey } from './minted-key.tsx';
import { NewKeyForm } from './new-key-form.tsx';

interface NewKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  /** Slug: the key is made for this project, and no other kind is offered. */
  readonly project?: string;
}

/** A click beside it closes nothing: a key that was not copied yet would be gone. */
export function NewKey({ opened, onClose, project }: NewKeyProps) {
  return (
    <Modal opened={opened} onClose={onClose} title="New key" size="lg" closeOnClickOutside={false}>
      <Steps project={project} onClose={onClose} />
    </Modal>
  );
}

/** What it holds is gone with the dialog. */
function Steps({ project, onClose }: Omit<NewKeyProps, 'opened' | 'project'> & { project: string | undefined }) {
  const [minted, setMinted] = useState<MintedToken>();
  if (minted !== undefined) return <MintedKey token={minted} onClose={onClose} />;
  return <NewKeyForm project={project} onMinted={setMinted} onClose={onClose} />;
}
