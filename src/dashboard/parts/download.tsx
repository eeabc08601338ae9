/** Text and bytes that the browser saves as a file. Nothing of it goes to a server, and its address is gone once it is saved. */
import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';

/** How long the browser may take to begin; the content is in memory until then. */
const RELEASE_MS = 10_000;

interface DownloadButtonProps {
  readonly text: string;
  /** Of the file. */
  readonly name: string;
  readonly children: string;
}

export function DownloadButton({ text, name, children }: DownloadButtonProps) {
  return (
    <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => saveText(text, name)}>
      {children}
    </Button>
  );
}

/** Has the browser save a text as a file of this name. */
export function saveText(text: string, name: string): void {
  save(new Blob([text], { type: 'text/plain' }), name);
}

/** As a type that no browser opens. */
export function saveBytes(bytes: BlobPart, name: string): void {
  save(new Blob([bytes], { type: 'application/octet-stream' }), name);
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), RELEASE_MS);
}
