/** Lower case, so that a group is the same on every file system. */
export const GROUP_PATTERN = /^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$/;
export const GROUP_LENGTH = 63;

export function isGroupName(text: string): boolean {
  return text.length <= GROUP_LENGTH && GROUP_PATTERN.test(text);
}
