/** Something of this machine inside a container, or something inside a container made invisible. */
export type Mount =
  | { readonly kind: 'bind'; readonly source: string; readonly target: string; readonly readOnly: boolean }
  | { readonly kind: 'hidden'; readonly target: string; readonly what: 'file' | 'folder' };
