-- page.lua - a page of the site: its links, its navigation, its lines of the search index.
--
-- SPDX-License-Identifier: Apache-2.0
--
-- A filter of pandoc 2.17 or later; site.sh runs it for each page with
--   SITE_SOURCE  the page, as a path in the source tree ("man/NAME.1" for manual pages)
--   SITE_TREE    the source tree
--   SITE_PAGES   all pages: group, source, file and title, between tabs
--   SITE_INDEX   the search index, to which a line per section is added
--   SITE_FILES   files of the tree to which pages link, to which this page's are added

local source = os.getenv('SITE_SOURCE')
local tree = os.getenv('SITE_TREE')

local pages, file_of, title_of, here = {}, {}, {}, nil
for line in io.lines(os.getenv('SITE_PAGES')) do
  local group, from, file, title = line:match('^(.-)\t(.-)\t(.-)\t(.*)$')
  pages[#pages + 1] = { group = group, source = from, file = file, title = title }
  file_of[from] = file
  title_of[file] = title
  if from == source then here = #pages end
end
file_of['README.md'] = 'index.html'

local function escaped(text)
  return (text:gsub('[&<>"]', { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;' }))
end

local function json(text)
  return '"' .. text:gsub('[%c"\\<]', function(c) return string.format('\\u%04x', c:byte()) end) .. '"'
end

-- Links

-- The path in the tree to which a relative link of this page leads.
local function path_in_tree(link)
  local parts = {}
  for part in (source:match('^(.*/)') or ''):gmatch('[^/]+') do parts[#parts + 1] = part end
  for part in link:gmatch('[^/]+') do
    if part == '..' then
      if #parts == 0 then error(source .. ': the link ' .. link .. ' leaves the source tree') end
      table.remove(parts)
    elseif part ~= '.' then
      parts[#parts + 1] = part
    end
  end
  return table.concat(parts, '/')
end

local function target_in_site(link)
  if link == '' or link:match('^#') or link:match('^%a[%w+.-]*:') then return link end
  local path, anchor = link:match('^([^#]*)(.*)$')
  path = path_in_tree(path)
  if file_of[path] then return file_of[path] .. anchor end
  local file = io.open(tree .. '/' .. path)
  if not file or not file:read(0) then error(source .. ': nothing to read at ' .. link) end
  file:close()
  local list = io.open(os.getenv('SITE_FILES'), 'a')
  list:write(path, '\n')
  list:close()
  return 'files/' .. path
end

-- "hopcast-study(1)" is a link to that page.
local function manual_link(name, shown)
  local file = file_of['man/' .. name .. '.1']
  if file and 'man/' .. name .. '.1' ~= source then return pandoc.Link(shown, file) end
end

local function link_manuals(inlines)
  local i = 1
  while i < #inlines do
    local word, rest = inlines[i], inlines[i + 1]
    if word.t == 'Strong' and rest.t == 'Str' and rest.text:match('^%(1%)') then
      local link = manual_link(pandoc.utils.stringify(word), { word, pandoc.Str('(1)') })
      if link then
        inlines[i] = link
        rest.text = rest.text:sub(4)
      end
    end
    i = i + 1
  end
  return inlines
end

local link_filter = {
  -- A link that shows the name of a page's source shows its title instead.
  Link = function(link)
    link.target = target_in_site(link.target)
    if pandoc.utils.stringify(link):match('^[%w-]+%.md$') then
      link.content = title_of[link.target:match('^[^#]*')] or link.content
    end
    return link
  end,
  Image = function(image)
    image.src = target_in_site(image.src)
    return image
  end,
  Code = function(code)
    local name = code.text:match('^(hopcast[%w-]*)%(1%)$')
    return name and manual_link(name, code)
  end,
  Inlines = link_manuals,
}

-- Search: a section is a heading of the first three levels and the text up to the next.

-- Adds the words of a block, each once, and the first paragraph as the summary.
local function add_text(section, block)
  local said = {}
  pandoc.walk_block(pandoc.Div({ block }), {
    Str = function(s) said[#said + 1] = s.text end,
    Code = function(s) said[#said + 1] = s.text end,
    CodeBlock = function(s) said[#said + 1] = s.text end,
  })
  local text = table.concat(said, ' ')
  if block.t == 'Para' and #section.summary == 0 then
    section.summary = pandoc.utils.stringify(block)
  end
  for word in text:lower():gmatch('[%w_][%w_.-]*') do
    word = word:gsub('[.-]+$', '')
    if #word > 1 and not section.seen[word] then
      section.seen[word] = true
      section.words[#section.words + 1] = word
    end
  end
end

local function shortened(text, length)
  if #text <= length then return text end
  return text:sub(1, length):gsub('[\128-\255]*$', ''):gsub('%s+%S*$', '') .. ' ...'
end

local function write_index(blocks)
  local title = pages[here].title
  local sections = {}
  local function open(heading, anchor)
    sections[#sections + 1] = { heading = heading, anchor = anchor, summary = '', words = {}, seen = {} }
  end
  local function visit(list)
    for _, block in ipairs(list) do
      if block.t == 'Header' and block.level <= 3 then
        local heading = pandoc.utils.stringify(block)
        if block.level == 1 then open('', '') else open(heading, '#' .. block.identifier) end
      elseif block.t == 'Div' then
        visit(block.content)
      else
        if #sections == 0 then open('', '') end
        add_text(sections[#sections], block)
      end
    end
  end
  visit(blocks)
  local index = io.open(os.getenv('SITE_INDEX'), 'a')
  for _, section in ipairs(sections) do
    index:write('[', json(pages[here].file .. section.anchor), ',', json(title), ',', json(section.heading), ',',
                json(shortened(section.summary, 160)), ',', json(table.concat(section.words, ' ')), ']\n')
  end
  index:close()
end

-- Navigation: all pages in their groups, and the sections of this one below its name.

local function sections_of_page(blocks)
  local items = {}
  pandoc.walk_block(pandoc.Div(blocks), {
    Header = function(header)
      if header.level == 2 then
        items[#items + 1] = '<li><a href="#' .. escaped(header.identifier) .. '">' ..
          escaped(pandoc.utils.stringify(header)) .. '</a></li>'
      end
    end,
  })
  return #items > 1 and '<ul>' .. table.concat(items, '\n') .. '</ul>' or ''
end

local function navigation(blocks)
  local html, group = { '<ul>' }, '-'
  for number, page in ipairs(pages) do
    if page.group ~= group then
      group = page.group
      html[#html + 1] = '</ul>\n<h2>' .. escaped(group) .. '</h2>\n<ul>'
    end
    local current = number == here
    html[#html + 1] = '<li><a href="' .. page.file .. '"' .. (current and ' aria-current="page"' or '') .. '>' ..
      escaped(page.title) .. '</a>' .. (current and sections_of_page(blocks) or '') .. '</li>'
  end
  html[#html + 1] = '</ul>'
  return table.concat(html, '\n')
end

local function around()
  local function link(page, word)
    return page and '<a rel="' .. word .. '" href="' .. page.file .. '">' .. escaped(page.title) .. '</a>' or '<span></span>'
  end
  return '<footer>' .. link(pages[here - 1], 'prev') .. link(pages[here + 1], 'next') .. '</footer>'
end

-- The page

local page_filter = {
  Header = function(header)
    -- mandoc's headings are links to themselves.
    header = pandoc.walk_block(header, { Link = function(link) return link.content end })
    if source:match('^man/') then header.level = header.level + 1 end
    if header.level > 1 and header.identifier ~= '' then
      header.content:insert(pandoc.Link({}, '#' .. header.identifier, '', { class = 'anchor', ['aria-label'] = 'Link to this section' }))
    end
    return header
  end,
  Table = function(tab)
    return pandoc.Div({ tab }, { class = 'scroll', tabindex = '0' })
  end,
}

function Pandoc(doc)
  local blocks = pandoc.walk_block(pandoc.Div(doc.blocks), link_filter).content
  local bare = pandoc.walk_block(pandoc.Div(blocks), page_filter).content
  if source:match('^man/') then bare:insert(1, pandoc.Header(1, pages[here].title)) end
  write_index(bare)
  doc.meta.navigation = pandoc.MetaBlocks { pandoc.RawBlock('html', navigation(bare)) }
  doc.meta.around = pandoc.MetaBlocks { pandoc.RawBlock('html', around()) }
  return pandoc.Pandoc(bare, doc.meta)
end
