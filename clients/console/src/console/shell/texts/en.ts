/** Texts of the search and the keyboard shortcuts. */
export const en = {
  palette: {
    open: "Search",
    hint: "Search pages, people and actions…",
    nothing: "No results",
    pages: "Go to",
    actions: "Actions",
  },
  keys: {
    title: "Keyboard shortcuts",
    turn: "Previous or next week or day",
    move: "Move the selected session by 15 minutes or a day",
  },
};
